import { describe, expect, test } from 'vitest'
import { AtipValidationError, compileTools, leavesOf, toOpenAI } from '../src/index.js'
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

  test('a name that is a path', () => {
    expect(refusal({ ...box({}), name: '../box' })).toMatchObject({ path: ['name'], value: '../box' })
  })

  test('a danger that is text: "false" must not count as true or false', () => {
    const error = refusal(
      box({ go: { description: 'Go', effects: { destructive: 'false' as unknown as boolean } } }),
    )
    expect(error.path).toEqual(['commands', 'go', 'effects', 'destructive'])
    expect(error.value).toBe('false')
  })

  test.each([
    [{ commands: [] }, ['commands']],
    [{ commands: { go: null } }, ['commands', 'go']],
    [{ commands: { go: { description: 'Go', commands: 'x' } } }, ['commands', 'go', 'commands']],
    [{ commands: { go: { description: 'Go', arguments: {} } } }, ['commands', 'go', 'arguments']],
    [
      { commands: { go: { description: 'Go', options: [{ name: 'a', flags: ['a'], type: 'string' }] } } },
      ['commands', 'go', 'options', '0', 'flags', '0'],
    ],
    [{ trust: { source: 'me' } }, ['trust', 'source']],
  ])('%j', (wrong, path) => {
    expect(refusal({ ...box({}), ...wrong }).path).toEqual(path)
  })
})

describe('names', () => {
  test('prototype names are ordinary commands and parameters', () => {
    const tool = fromJson(`{${ROOT},"commands":{
      "__proto__": {"description": "p", "arguments": [{"name": "__proto__", "type": "string"}]},
      "constructor": {"description": "c"}
    }}`)
    expect(leavesOf(tool).map(({ name }) => name)).toEqual(['box___proto__', 'box_constructor'])
    expect(Object.keys(toOpenAI(tool)[0]?.function.parameters.properties ?? {})).toEqual(['__proto__'])
  })

  test('two commands of one tool with one flat name are refused', () => {
    const leaf = { description: 'x' }
    expect(refusal(box({ a_b: leaf, a: { description: 'g', commands: { b: leaf } } })).message).toContain(
      '"box a_b" and "box a b" would both be called "box_a_b"',
    )
  })

  test('two parameters with one name are refused', () => {
    const parameter = { name: 'file', type: 'string' as const }
    const command = {
      description: 'x',
      arguments: [parameter],
      options: [{ ...parameter, flags: ['--file'] }],
    }
    expect(refusal(box({ go: command })).message).toBe('"box go" has two parameters named "file".')
  })
})

describe('size and depth', () => {
  test('nesting that looks endless is refused', () => {
    const node: { description: string; commands: Record<string, unknown> } = {
      description: 'x',
      commands: {},
    }
    node.commands.again = node
    expect(refusal(box(node.commands as Parameters<typeof box>[0])).message).toContain(
      'nest deeper than 32 levels',
    )
  })

  test('10000 commands compile to 10000 tools', () => {
    const groups = Object.fromEntries(
      Array.from({ length: 100 }, (_, group) => {
        const leaves = Array.from({ length: 100 }, (_, leaf) => [
          `c${leaf}`,
          { description: 'x', effects: {} },
        ])
        return [`g${group}`, { description: 'g', commands: Object.fromEntries(leaves) }]
      }),
    )
    expect(compileTools([box(groups)], 'openai').tools).toHaveLength(10_000)
  })
})
