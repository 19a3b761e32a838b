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

  test('a tree of 200 leaves, each ten groups down, compiles to 200 tools', () => {
    const chain = (levels: number, leaf: object): object =>
      levels === 0 ? leaf : { description: 'g', commands: { [`g${levels}`]: chain(levels - 1, leaf) } }
    const branches = Array.from({ length: 200 }, (_, index) => [
      `b${index}`,
      chain(10, { description: `Leaf ${index}`, effects: { destructive: index % 2 === 0 } }),
    ])
    const tree = box(Object.fromEntries(branches))
    const names = compileTools([tree], 'anthropic').tools.map(({ name }) => name)
    expect(new Set(names).size).toBe(200)
    expect(names[7]).toBe('box_b7_g10_g9_g8_g7_g6_g5_g4_g3_g2_g1')
    expect(leavesOf(tree)[7]).toMatchObject({
      effects: { destructive: false },
      command: { description: 'Leaf 7' },
    })
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

  test('of two parameters with one name among thousands the name is told', () => {
    const argumentsOf = (count: number) =>
      Array.from({ length: count }, (_, index) => ({
        name: `p${index}`,
        type: 'string' as const,
        required: false,
      }))
    expect(leavesOf(box({ go: { description: 'x', arguments: argumentsOf(5_000) } }))).toHaveLength(1)
    const twice = [...argumentsOf(5_000), { name: 'p17', type: 'string' as const }]
    expect(refusal(box({ go: { description: 'x', arguments: twice } })).message).toBe(
      '"box go" has two parameters named "p17".',
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
