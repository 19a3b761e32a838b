import { describe, expect, test } from 'vitest'
import {
  AtipParseError,
  AtipValidationError,
  compileTools,
  DEFAULT_MAX_RESULT_LENGTH,
  DEFAULT_REDACT_PATTERNS,
  leavesOf,
  OPENAI_DESCRIPTION_MAX_LENGTH,
  SAFETY_FLAGS,
  toOpenAI,
  versionNotice,
} from '../src/index.js'
import { durationMs } from '../src/internal.js'
import { box, fromJson } from './helpers.js'

const ROOT = '"atip":"0.6","name":"box","version":"1","description":"d"'

function refusal(metadata: unknown): AtipValidationError {
  try {
    leavesOf(metadata as Parameters<typeof leavesOf>[0])
  } catch (error) {
    if (error instanceof AtipValidationError) return error
    throw error
  }
  throw new Error('the metadata was accepted')
}

describe('what is accepted', () => {
  test('members nobody knows, everywhere', () => {
    const tool =
      fromJson(`{"atip":"0.6","name":"box","version":"1","description":"d","homepage":"h","patterns":[{}],
      "partial":true,"omitted":{"reason":"size"},"trust":{"source":"org","integrity":{}},"commands":{"go":{"description":"x",
      "examples":["box go"],"exitCodes":{"0":"ok"},"effects":{"future":1},"arguments":[{"name":"a","type":"string","x":1}]}}}`)
    expect(leavesOf(tool)[0]?.effects).toEqual({ future: 1 })
  })

  test('any key as the name of a command: hyphens, underscores, spaces, nothing, those of a prototype', () => {
    const keys = ['dry-run', 'a_b', 'issue list', '', '__proto__', 'constructor']
    const commands = keys.map(
      (key) =>
        `${JSON.stringify(key)}: {"description": "x", "arguments": [{"name": "__proto__", "type": "string"}]}`,
    )
    const tool = fromJson(`{${ROOT}, "commands": {${commands}}}`)
    expect(leavesOf(tool).map(({ path }) => path)).toEqual(keys.map((key) => [key]))
    expect(Object.keys(toOpenAI(tool)[0]?.function.parameters.properties ?? {})).toEqual(['__proto__'])
  })

  test('an empty map of commands is not a group', () => {
    expect(leavesOf(box({ go: { description: 'Go', commands: {} } })).map(({ name }) => name)).toEqual([
      'box_go',
    ])
  })

  test('a prototype in the effects changes none of them', () => {
    const effects = '{"__proto__":{"destructive":false,"network":false},"reversible":false}'
    const tool =
      fromJson(`{${ROOT},"effects":${effects},"commands":{"g":{"description":"g","effects":${effects},
      "commands":{"go":{"description":"x","effects":${effects}}}}}}`)
    const [leaf] = leavesOf(tool)
    expect(leaf?.effects.destructive).toBeUndefined()
    expect(leaf?.effects.network).toBeUndefined()
    expect(leaf?.effects.reversible).toBe(false)
  })
})

describe('what is not ATIP is refused with the path to the fault', () => {
  test.each(['atip', 'name', 'version', 'description'])('without %s', (field) => {
    const { [field]: _, ...rest } = JSON.parse(`{${ROOT}}`)
    expect(refusal(rest)).toMatchObject({
      message: `Missing required field "${field}" in the ATIP metadata.`,
      path: [field],
      value: undefined,
    })
  })

  test.each([null, [], 'text', 7])('%j instead of an object', (value) => {
    expect(refusal(value).message).toBe('ATIP metadata must be one JSON object.')
  })

  const go = (members: object) => ({ commands: { go: { description: 'Go', ...members } } })
  test.each([
    [{ name: '../box' }, 'name', 'must be letters, digits, "_" and "-", got "../box".'],
    [{ version: 7 }, 'version', 'must be a string, got 7.'],
    [{ atip: 7 }, 'atip', 'must be a string, got 7.'],
    [{ atip: { features: [] } }, 'atip', '"version" is missing.'],
    [{ effects: [] }, 'effects', 'must be a mapping, got an empty list.'],
    [
      { authentication: { methods: [{ envVar: 7 }] } },
      'authentication.methods.0.envVar',
      'must be a string, got 7.',
    ],
    [
      { trust: { source: 'me' } },
      'trust.source',
      'must be one of inferred, user, community, org, vendor, native, got "me".',
    ],
    [{ commands: [] }, 'commands', 'must be a mapping of names to commands, got an empty list.'],
    [{ commands: { go: null } }, 'commands.go', 'must be a mapping with "description", got nothing.'],
    [{ commands: { go: {} } }, 'commands.go', '"description" is missing.'],
    [go({ commands: 'x' }), 'commands.go.commands', 'must be a mapping of names to commands, got "x".'],
    [go({ arguments: {} }), 'commands.go.arguments', 'must be a list, got a mapping.'],
    [go({ arguments: [{ name: '', type: 'string' }] }), 'commands.go.arguments.0.name', 'must not be empty.'],
    [
      go({ options: [{ name: 'a', flags: [], type: 'string' }] }),
      'commands.go.options.0.flags',
      'must not be empty.',
    ],
    [
      go({ options: [{ name: 'a', flags: ['a'], type: 'string' }] }),
      'commands.go.options.0.flags.0',
      'must be a flag, which begins with "-", got "a".',
    ],
    // "false" must not count as true or false
    [
      go({ effects: { destructive: 'false' } }),
      'commands.go.effects.destructive',
      'must be true or false, got "false".',
    ],
    [
      go({ effects: { cost: { estimate: 'x'.repeat(99) } } }),
      'commands.go.effects.cost.estimate',
      `must be one of free, low, medium, high, got "${'x'.repeat(60)}…".`,
    ],
  ])('%j', (wrong, path, message) => {
    const error = refusal({ ...box({}), ...wrong })
    expect(error.path).toEqual(path.split('.'))
    expect(error.message).toBe(`${path.replace(/\.(\d+)/g, '[$1]')}: ${message}`)
  })

  test('two parameters with one name', () => {
    const parameter = { name: 'file', type: 'string' as const }
    const options = [{ ...parameter, flags: ['--file'] }]
    expect(refusal(box({ go: { description: 'x', arguments: [parameter], options } })).message).toBe(
      '"box go" has two parameters named "file".',
    )
  })

  test('nesting that looks endless', () => {
    const commands: Record<string, { description: string }> = {}
    commands.again = Object.assign({ description: 'x' }, { commands })
    expect(refusal(box(commands)).message).toBe('Commands nest deeper than 32 levels.')
  })
})

test('10000 commands, ten groups down, compile to 10000 tools', () => {
  const chain = (levels: number, commands: object): object =>
    levels === 0 ? commands : { [`g${levels}`]: { description: 'g', commands: chain(levels - 1, commands) } }
  const branches = Array.from({ length: 100 }, (_, branch) => {
    const leaves = Array.from({ length: 100 }, (_, leaf) => [
      `c${leaf}`,
      { description: `Leaf ${leaf}`, effects: { destructive: leaf % 2 === 0 } },
    ])
    return [`b${branch}`, { description: 'b', commands: chain(9, Object.fromEntries(leaves)) }]
  })
  const tree = box(Object.fromEntries(branches))
  const names = compileTools([tree], 'anthropic').tools.map(({ name }) => name)
  expect(new Set(names).size).toBe(10_000)
  expect(names[107]).toBe('box_b1_g9_g8_g7_g6_g5_g4_g3_g2_g1_c7')
  expect(leavesOf(tree)[107]).toMatchObject({
    effects: { destructive: false },
    command: { description: 'Leaf 7' },
  })
})

describe('versions', () => {
  const accepted = (atip: Parameters<typeof versionNotice>[0]['atip']) => {
    expect(leavesOf({ ...box({ go: { description: 'Go' } }), atip })).toHaveLength(1)
    return versionNotice({ atip })
  }

  test.each(['0.1', '0.2', '0.3', '0.4', '0.5', '0.6'])(
    '%s is known, as a string and as an object',
    (version) => {
      expect(accepted(version)).toBeUndefined()
      expect(accepted({ version, features: ['trust-v1'], minAgentVersion: '0.1' })).toBeUndefined()
    },
  )

  test.each(['0.7', '0.10', '1.0', '1'])('%s is newer: read, with a notice', (version) => {
    const notice = `This is ATIP ${version}; what is newer than 0.6 in it has no effect here.`
    expect(accepted(version)).toBe(notice)
    expect(accepted({ version })).toBe(notice)
  })

  test.each(['latest', 'v0.6', '0.6-beta'])('%s is not a version, and said so', (atip) => {
    expect(accepted(atip)).toBe(`"${atip}" is not a version of ATIP; it is read as 0.6.`)
  })

  test('metadata that wants a newer reader is refused', () => {
    const atip = { version: '0.9', minAgentVersion: '0.8' }
    expect(refusal({ ...box({}), atip }).message).toBe(
      'The ATIP metadata of box is for readers of ATIP 0.8 and later; this one reads up to 0.6.',
    )
  })
})

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
])('a duration of %j is %j milliseconds: no metadata lifts a limit', (text, milliseconds) => {
  expect(durationMs(text)).toBe(milliseconds)
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
