import { describe, expect, test } from 'vitest'
import {
  type AtipArgument,
  AtipParseError,
  AtipValidationError,
  compileTools,
  DEFAULT_MAX_RESULT_LENGTH,
  DEFAULT_REDACT_PATTERNS,
  leavesOf,
  OPENAI_DESCRIPTION_MAX_LENGTH,
  SAFETY_FLAGS,
  toAnthropic,
  toGemini,
} from '../src/index.js'
import { durationMs } from '../src/internal.js'
import { box, fromJson } from './helpers.js'

describe('what is accepted', () => {
  test.each(['0.1', '0.2', '0.3', '0.4', '0.5', '0.6'])(
    'version %s, as a text and as an object',
    (version) => {
      const features = { version, features: ['trust-v1'], minAgentVersion: '0.1' }
      for (const atip of [version, { version }, features]) {
        expect(leavesOf({ ...box({ go: { description: 'Go' } }), atip })).toHaveLength(1)
      }
    },
  )

  test('members nobody knows, everywhere', () => {
    const tool =
      fromJson(`{"atip":"0.6","name":"box","version":"1","description":"d","homepage":"h","patterns":[{}],
      "partial":true,"omitted":{"reason":"size"},"trust":{"source":"org","integrity":{}},"commands":{"go":{"description":"x",
      "examples":["box go"],"exitCodes":{"0":"ok"},"effects":{"future":1},"arguments":[{"name":"a","type":"string","x":1}]}}}`)
    expect(leavesOf(tool)[0]?.effects).toEqual({ future: 1 })
  })

  test('any key as the name of a command: hyphens, underscores, spaces, nothing', () => {
    const commands = { 'dry-run': {}, a_b: {}, 'issue list': {}, '': {} }
    const described = Object.fromEntries(Object.keys(commands).map((key) => [key, { description: 'x' }]))
    expect(leavesOf(box(described)).map(({ path }) => path)).toEqual([
      ['dry-run'],
      ['a_b'],
      ['issue list'],
      [''],
    ])
  })

  test('an empty map of commands is no group', () => {
    expect(leavesOf(box({ go: { description: 'Go', commands: {} } })).map(({ name }) => name)).toEqual([
      'box_go',
    ])
  })
})

describe('types and defaults', () => {
  const schemaOf = (parameter: Partial<AtipArgument>) => {
    const argument = { name: 'p', type: 'string' as const, description: 'P', ...parameter }
    return toGemini(box({ go: { description: 'Go', arguments: [argument] } }))[0]?.parameters
  }

  test.each([
    ['string', { type: 'string', description: 'P' }],
    ['integer', { type: 'integer', description: 'P' }],
    ['number', { type: 'number', description: 'P' }],
    ['boolean', { type: 'boolean', description: 'P' }],
    ['file', { type: 'string', description: 'P (file path)' }],
    ['directory', { type: 'string', description: 'P (directory path)' }],
    ['url', { type: 'string', description: 'P (URL)' }],
    ['enum', { type: 'string', description: 'P' }],
    ['array', { type: 'array', description: 'P', items: { type: 'string' } }],
  ] as const)('%s', (type, schema) => {
    expect(schemaOf({ type })?.properties.p).toEqual(schema)
  })

  test('an argument is required unless it says otherwise, an option only if it says so', () => {
    expect(schemaOf({})?.required).toEqual(['p'])
    expect(schemaOf({ required: false })?.required).toEqual([])
    const option = { name: 'o', flags: ['-o'], type: 'string' as const }
    const [go] = toAnthropic(
      box({ go: { description: 'Go', options: [option, { ...option, name: 'r', required: true }] } }),
    )
    expect(go?.input_schema.required).toEqual(['r'])
  })

  test('numbers to choose from stay numbers, and a list of choices is a list', () => {
    expect(schemaOf({ type: 'enum', enum: [1, 2] })?.properties.p).toMatchObject({
      type: 'number',
      enum: [1, 2],
    })
    expect(schemaOf({ type: 'enum', enum: ['a'], variadic: true })?.properties.p).toMatchObject({
      type: 'array',
      items: { type: 'string', enum: ['a'] },
    })
  })

  test('the provider comes back with its tools', () => {
    for (const provider of ['openai', 'gemini', 'anthropic'] as const) {
      expect(compileTools([box({})], provider)).toEqual({ provider, tools: [] })
    }
  })
})

describe('durations', () => {
  test.each([
    ['60s', 60_000],
    ['200ms', 200],
    ['1.5m', 90_000],
    ['2h', 7_200_000],
    ['0s', undefined],
    ['0.0001s', undefined],
    ['999999999h', 2_147_483_647],
    ['soon', undefined],
    ['-1s', undefined],
    [undefined, undefined],
  ])('%j is %j milliseconds: no metadata lifts a limit', (text, milliseconds) => {
    expect(durationMs(text)).toBe(milliseconds)
  })
})

describe('what wrong metadata is told', () => {
  test.each([
    [{ version: 7 }, 'version must be a text, not 7.'],
    [{ atip: { features: [] } }, 'atip.version must be a text, and is missing.'],
    [{ effects: [] }, 'effects must be an object, not an empty list.'],
    [
      { authentication: { methods: [{ envVar: 7 }] } },
      'authentication.methods.0.envVar must be a text, not 7.',
    ],
    [
      { trust: { source: 'me' } },
      'trust.source must be one of "native", "vendor", "org", "community", "user", "inferred", not "me".',
    ],
    [{ commands: { go: {} } }, 'commands.go.description must be a text, and is missing.'],
    [
      { commands: { go: { description: 'x', options: [{ name: 'a', flags: [], type: 'string' }] } } },
      'commands.go.options.0.flags must be a list that is not empty, not an empty list.',
    ],
    [
      { commands: { go: { description: 'x', arguments: [{ name: '', type: 'string' }] } } },
      'commands.go.arguments.0.name must be a text that is not empty, not "".',
    ],
    [
      { commands: { go: { description: 'x', effects: { cost: { estimate: 'x'.repeat(99) } } } } },
      `${'x'.repeat(59)}…`,
    ],
  ])('%j', (wrong, message) => {
    expect(() => leavesOf({ ...box({}), ...(wrong as object) })).toThrow(message)
  })
})

describe('names of the interface', () => {
  test('constants', () => {
    expect([OPENAI_DESCRIPTION_MAX_LENGTH, DEFAULT_MAX_RESULT_LENGTH]).toEqual([1024, 100_000])
    expect(Object.values(SAFETY_FLAGS)).toEqual([
      '⚠️ DESTRUCTIVE',
      '⚠️ NOT REVERSIBLE',
      '⚠️ NOT IDEMPOTENT',
      '💰 BILLABLE',
      '🔒 READ-ONLY',
    ])
    expect(DEFAULT_REDACT_PATTERNS.every((pattern) => pattern instanceof RegExp && pattern.global)).toBe(true)
  })

  test('errors are made as the interface makes them', () => {
    const invalid = new AtipValidationError('wrong', ['name'], 7)
    expect(invalid).toMatchObject({ name: 'AtipValidationError', message: 'wrong', path: ['name'], value: 7 })
    const response = {}
    const unread = new AtipParseError('wrong', 'gemini', response)
    expect(unread).toMatchObject({ name: 'AtipParseError', provider: 'gemini', response })
    expect(unread.message).toContain('wrong')
  })
})
