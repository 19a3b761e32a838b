import { describe, expect, test } from 'vitest'
import {
  type AtipArgument,
  type AtipEffects,
  compileTools,
  leavesOf,
  OPENAI_DESCRIPTION_MAX_LENGTH,
  toAnthropic,
  toGemini,
  toOpenAI,
} from '../src/index.js'
import { box } from './helpers.js'

const pullRequests = box({
  pr: {
    description: 'Pull requests',
    commands: {
      create: {
        description: 'Create one',
        arguments: [
          { name: 'branch', type: 'string', description: 'Branch' },
          { name: 'files', type: 'file', description: 'Files', required: false, variadic: true },
        ],
        options: [
          { name: 'base', flags: ['--base'], type: 'string', description: 'Target', required: true },
          {
            name: 'state',
            flags: ['-s', '--state'],
            type: 'enum',
            enum: ['open', 'draft'],
            description: 'State',
          },
        ],
      },
      list: { description: 'List them' },
    },
  },
})

describe('one entry per leaf', () => {
  test('commands are flattened depth first, and a group is no entry', () => {
    expect(toOpenAI(pullRequests).map((tool) => tool.function.name)).toEqual(['box_pr_create', 'box_pr_list'])
  })

  test('the bare tool is the command with the empty name', () => {
    expect(toGemini(box({ '': { description: 'Open the box' } })).map(({ name }) => name)).toEqual(['box_'])
  })

  test('characters a provider refuses become "_", and hyphens stay', () => {
    const tool = box({ 'issue list': { description: 'List' }, 'run-it': { description: 'Run' } })
    expect(leavesOf(tool).map(({ name }) => name)).toEqual(['box_issue_list', 'box_run-it'])
  })

  test('a name over 64 characters is cut, stays unique, and does not change from run to run', () => {
    const long = 'x'.repeat(70)
    const names = leavesOf(box({ [`${long}a`]: { description: 'A' }, [`${long}b`]: { description: 'B' } }))
    expect(names.map(({ name }) => name)).toEqual([
      `box_${'x'.repeat(51)}_d6796475`,
      `box_${'x'.repeat(51)}_d3795fbc`,
    ])
  })
})

describe('the shapes of the providers', () => {
  test('OpenAI: a function whose parameters allow nothing else', () => {
    expect(toOpenAI(pullRequests)[0]).toEqual({
      type: 'function',
      function: {
        name: 'box_pr_create',
        description: 'Create one',
        parameters: {
          type: 'object',
          properties: {
            branch: { type: 'string', description: 'Branch' },
            files: { type: 'array', description: 'Files (file path)', items: { type: 'string' } },
            base: { type: 'string', description: 'Target' },
            state: { type: 'string', description: 'State', enum: ['open', 'draft'] },
          },
          required: ['branch', 'base'],
          additionalProperties: false,
        },
      },
    })
  })

  test('strict mode requires every parameter and lets null stand for an absent one', () => {
    const [create] = toOpenAI(pullRequests, { strict: true })
    expect(create?.function.strict).toBe(true)
    expect(create?.function.parameters.required).toEqual(['branch', 'files', 'base', 'state'])
    expect(create?.function.parameters.properties).toMatchObject({
      branch: { type: 'string' },
      files: { type: ['array', 'null'] },
      state: { type: ['string', 'null'], enum: ['open', 'draft', null] },
    })
  })

  test('Gemini: a declaration with parameters', () => {
    expect(toGemini(pullRequests)[1]).toEqual({
      name: 'box_pr_list',
      description: 'List them',
      parameters: { type: 'object', properties: {}, required: [] },
    })
  })

  test('Anthropic: the same as input_schema', () => {
    expect(toAnthropic(pullRequests)[1]).toEqual({
      name: 'box_pr_list',
      description: 'List them',
      input_schema: { type: 'object', properties: {}, required: [] },
    })
  })

  test('global options belong to every leaf that does not define its own', () => {
    const option = (description: string) => ({
      name: 'repo',
      flags: ['--repo'],
      type: 'string' as const,
      description,
    })
    const tool = box(
      { a: { description: 'A' }, b: { description: 'B', options: [option('Of b')] } },
      { globalOptions: [option('Global')] },
    )
    expect(toGemini(tool).map((entry) => entry.parameters.properties.repo?.description)).toEqual([
      'Global',
      'Of b',
    ])
  })
})

describe('parameters', () => {
  const schemaOf = (parameter: Partial<AtipArgument>) => {
    const argument = { name: 'p', type: 'string' as const, description: 'P', ...parameter }
    return toGemini(box({ go: { description: 'Go', arguments: [argument] } }))[0]?.parameters
  }

  test.each([
    [{ type: 'string' }, { type: 'string', description: 'P' }],
    [{ type: 'integer' }, { type: 'integer', description: 'P' }],
    [{ type: 'number' }, { type: 'number', description: 'P' }],
    [{ type: 'boolean' }, { type: 'boolean', description: 'P' }],
    [{ type: 'file' }, { type: 'string', description: 'P (file path)' }],
    [{ type: 'directory' }, { type: 'string', description: 'P (directory path)' }],
    [{ type: 'url' }, { type: 'string', description: 'P (URL)' }],
    [{ type: 'array' }, { type: 'array', description: 'P', items: { type: 'string' } }],
    [{ type: 'enum' }, { type: 'string', description: 'P' }],
    [
      { type: 'enum', enum: [1, 2] },
      { type: 'number', description: 'P', enum: [1, 2] },
    ],
    [
      { type: 'enum', enum: ['a'], variadic: true },
      { type: 'array', description: 'P', items: { type: 'string', enum: ['a'] } },
    ],
  ] as const)('%j', (parameter, schema) => {
    expect(schemaOf(parameter)?.properties.p).toEqual(schema)
  })

  test('an argument is required unless it says otherwise, an option only if it says so', () => {
    expect(schemaOf({})?.required).toEqual(['p'])
    expect(schemaOf({ required: false })?.required).toEqual([])
    const option = { name: 'o', flags: ['-o'], type: 'string' as const }
    const options = [option, { ...option, name: 'r', required: true }]
    expect(toAnthropic(box({ go: { description: 'Go', options } }))[0]?.input_schema.required).toEqual(['r'])
  })
})

describe('the safety suffix', () => {
  const describeWith = (effects: AtipEffects) =>
    toAnthropic(box({ go: { description: 'Go', effects } }))[0]?.description

  test('names every danger, in one order', () => {
    expect(
      describeWith({ cost: { billable: true }, idempotent: false, reversible: false, destructive: true }),
    ).toBe('Go [⚠️ DESTRUCTIVE | ⚠️ NOT REVERSIBLE | ⚠️ NOT IDEMPOTENT | 💰 BILLABLE]')
  })

  test('says read-only only when neither network nor writing is left open', () => {
    expect(describeWith({ network: false, filesystem: { write: false } })).toBe('Go [🔒 READ-ONLY]')
    expect(describeWith({ network: false })).toBe('Go')
    expect(describeWith({ filesystem: { write: false } })).toBe('Go')
    expect(describeWith({ network: false, filesystem: { write: false, delete: true } })).toBe('Go')
  })

  test('survives the cut to the length OpenAI accepts', () => {
    const tool = box({ go: { description: 'A'.repeat(2000), effects: { destructive: true } } })
    const text = toOpenAI(tool)[0]?.function.description ?? ''
    expect(text).toHaveLength(OPENAI_DESCRIPTION_MAX_LENGTH)
    expect(text).toMatch(/A\.\.\. \[⚠️ DESTRUCTIVE\]$/)
    expect(toGemini(tool)[0]?.description).toContain('A'.repeat(2000))
  })
})

describe('several tools', () => {
  const other = (description: string) => box({ run: { description } }, { name: 'other' })

  test.each(['openai', 'gemini', 'anthropic'] as const)(
    'without commands there are no tools: %s',
    (provider) => {
      expect(compileTools([box({}), box({})], provider)).toEqual({ provider, tools: [] })
    },
  )

  test('are compiled for one provider', () => {
    const compiled = compileTools([pullRequests, other('Run')], 'openai', { strict: true })
    expect(compiled.provider).toBe('openai')
    expect(compiled.tools.map((tool) => [tool.function.name, tool.function.strict])).toEqual([
      ['box_pr_create', true],
      ['box_pr_list', true],
      ['other_run', true],
    ])
  })

  test('the same command twice counts once, as described last', () => {
    expect(
      compileTools([other('Old'), other('New')], 'gemini').tools.map((tool) => tool.description),
    ).toEqual(['New'])
  })

  test('two commands with one flat name are refused, not confused', () => {
    const tools = [box({ list: { description: 'A' } }, { name: 'box_pr' }), pullRequests]
    expect(() => compileTools(tools, 'openai')).toThrow(
      '"box_pr list" and "box pr list" would both be called "box_pr_list"',
    )
  })
})

describe('the effects of a leaf', () => {
  function effectsOf({ tool, group, leaf }: { tool?: AtipEffects; group?: AtipEffects; leaf?: AtipEffects }) {
    const command = { description: 'Do it', ...(leaf && { effects: leaf }) }
    const commands = {
      all: { description: 'Group', ...(group && { effects: group }), commands: { it: command } },
    }
    return leavesOf(box(commands, tool ? { effects: tool } : {}))[0]?.effects
  }

  test('nothing stated is nothing known', () => {
    expect(effectsOf({})).toEqual({})
  })

  test('what a leaf states wins over its group, and what it leaves out is inherited', () => {
    expect(
      effectsOf({
        group: { destructive: true, network: true, filesystem: { read: true, write: true } },
        leaf: { destructive: false, filesystem: { write: false } },
      }),
    ).toEqual({ destructive: false, network: true, filesystem: { read: true, write: false } })
  })

  test('of a tool and its leaf the more dangerous statement wins, whichever of them makes it', () => {
    const dangerous: AtipEffects = {
      destructive: true,
      network: true,
      subprocess: true,
      reversible: false,
      idempotent: false,
      filesystem: { read: true, write: true, delete: true },
      interactive: { prompts: true, tty: true, stdin: 'password' },
      cost: { billable: true, estimate: 'high' },
    }
    const harmless: AtipEffects = {
      destructive: false,
      network: false,
      subprocess: false,
      reversible: true,
      idempotent: true,
      filesystem: { read: false, write: false, delete: false },
      interactive: { prompts: false, tty: false, stdin: 'required' },
      cost: { billable: false, estimate: 'low' },
    }
    expect(effectsOf({ tool: dangerous, leaf: harmless })).toEqual(dangerous)
    expect(effectsOf({ tool: harmless, leaf: dangerous })).toEqual(dangerous)
  })

  test('a tool says what its leaves leave unsaid', () => {
    expect(
      effectsOf({
        tool: { network: false, interactive: { stdin: 'none' } },
        leaf: { interactive: { tty: true } },
      }),
    ).toEqual({
      network: false,
      interactive: { stdin: 'none', tty: true },
    })
  })
})
