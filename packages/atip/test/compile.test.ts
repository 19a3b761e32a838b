import { describe, expect, test } from 'vitest'
import {
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

  test('a tool without commands has no entries', () => {
    expect(toOpenAI({ atip: '0.3', name: 'empty', version: '1', description: 'Nothing' })).toEqual([])
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

  test('directories and URLs are strings that say what they are', () => {
    const tool = box({
      go: {
        description: 'Go',
        arguments: [
          { name: 'to', type: 'directory', description: 'Where' },
          { name: 'from', type: 'url', description: 'Source' },
        ],
      },
    })
    expect(toGemini(tool)[0]?.parameters.properties).toEqual({
      to: { type: 'string', description: 'Where (directory path)' },
      from: { type: 'string', description: 'Source (URL)' },
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
