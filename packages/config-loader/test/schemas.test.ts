import { readFile } from 'node:fs/promises'
import { settingsSchema } from '@delta/executor/internal'
import { fitShape } from '@delta/settings'
import { safeParseTool } from '@delta/tool-expander'
import { SCHEMA_WORDS, toolSchemas } from '@delta/tool-expander/internal'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { agentSchema } from '../src/agent-schema.js'
import { DESCRIPTIONS } from '../src/descriptions.js'
import { jsonSchemas } from '../src/schemas.js'

const schemas = jsonSchemas()
const settingKeys = Object.keys(settingsSchema._zod.innerType.shape)
interface Node {
  properties: Record<string, Node>
  items: Node
  anyOf: Node[]
  oneOf: Node[]
  required: string[]
  description?: string
}
const schema = (name: keyof typeof schemas) => schemas[name] as unknown as Node
const toolKeys = Object.keys(schema('tools').properties.tools?.anyOf[0]?.items.properties ?? {})

test.each(['agent', 'tools', 'context', 'hooks'] as const)(
  'the published schema of %s is the one the code gives',
  async (name) => {
    await expect(formatted(schemas[name])).toMatchFileSnapshot(`../schemas/${name}.json`)
  },
)

test('editors say of every key what it means', () => {
  const silent: string[] = []
  const look = (node: Partial<Node>, place: string): boolean => {
    const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].map((one) => look(one, place))
    if (node.items) look(node.items, `${place}[]`)
    for (const [key, value] of Object.entries(node.properties ?? {}))
      if (!look(value, `${place}.${key}`)) silent.push(`${place}.${key}`)
    return node.description !== undefined || inner.includes(true)
  }
  for (const name of ['agent', 'tools', 'context', 'hooks'] as const) look(schema(name), name)
  expect(silent).toEqual([])
})

test('every description belongs to a key', () => {
  const texts = JSON.stringify(schemas)
  const unused = Object.entries(DESCRIPTIONS).filter(([, text]) => !texts.includes(JSON.stringify(text)))
  expect(unused).toEqual([])
})

test('editors offer every key that says how a tool runs, and the syntax the expander reads', () => {
  const syntax = toolKeys.filter((key) => !settingKeys.includes(key))
  expect(toolKeys).toEqual(expect.arrayContaining(settingKeys))
  expect(syntax).toEqual([
    'name',
    'description',
    'exec',
    'shell',
    'command',
    'stdin',
    'input_schema',
    'parameters',
    'allow_dash',
  ])

  const tool = { name: 'a', description: 'b', exec: 'cat ${c}', stdin: 'd', parameters: [], allow_dash: true }
  expect(safeParseTool({ ...tool, unread: 1 })).toMatchObject({ ok: true, rest: { unread: 1 } })
})

test('editors offer the keys of a parameter that the expander reads, and the loader knows no others', () => {
  const tool = schema('tools').properties.tools?.anyOf[0]?.items
  const offered = Object.keys(tool?.properties.parameters?.items.properties ?? {})
  const known = Object.keys(toolSchemas().Parameter.shape)
  expect([...offered, 'raw'].sort()).toEqual(known.sort())
  const unchecked = ['default', 'metadata', ...SCHEMA_WORDS]
  for (const key of known.filter((key) => !unchecked.includes(key))) {
    const parameters = [{ name: 'c', [key]: { not: 'this' } }]
    expect(safeParseTool({ name: 'a', exec: 'ls ${c}', parameters }).ok, key).toBe(false)
  }
})

test('the agent.yaml that the README shows is one', async () => {
  const shown: unknown = parse(await readFile(new URL('../examples/agent.yaml', import.meta.url), 'utf8'))
  const { value, problems } = fitShape(agentSchema, shown)
  expect(problems).toEqual([])
  expect(value?.tools?.map((tool) => safeParseTool(tool).ok)).toEqual([true])
})

/** Short lists on one line, as the repository's formatter has them. */
function formatted(value: unknown): string {
  const text = JSON.stringify(value, null, 2)
  return `${text.replace(/^(.*)\[\n([^[\]{}]*?)\n\s*\]/gm, (whole, before: string, items: string) => {
    const line = `${before}[${items
      .split('\n')
      .map((item) => item.trim())
      .join(' ')}]`
    return line.length <= 110 ? line : whole
  })}\n`
}
