import { fileURLToPath } from 'node:url'
import { readSettings } from '@delta/config-loader/internal'
import { editorSchema } from '@delta/config-loader/schemas'
import { expect, test } from 'vitest'
import { DESCRIPTIONS } from '../src/descriptions.js'
import { editorSchemaOfEval, evalSchema } from '../src/schema.js'

interface Node {
  properties?: Record<string, Node>
  additionalProperties?: Node
  items?: Node
  anyOf?: Node[]
  oneOf?: Node[]
  description?: string
}

const schema = editorSchema('eval.yaml of Delta', editorSchemaOfEval(), DESCRIPTIONS)

test('the published schema of eval.yaml is the one the code gives', async () => {
  await expect(formatted(schema)).toMatchFileSnapshot('../schemas/eval.json')
})

test('editors say of every key what it means, and every description belongs to a key', () => {
  const silent: string[] = []
  const look = (node: Node, place: string): boolean => {
    const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? [])].map((one) => look(one, place))
    if (node.items) look(node.items, `${place}[]`)
    if (node.additionalProperties) look(node.additionalProperties, `${place}.<name>`)
    for (const [key, value] of Object.entries(node.properties ?? {}))
      if (!look(value, `${place}.${key}`)) silent.push(`${place}.${key}`)
    return node.description !== undefined || inner.includes(true)
  }
  look(schema as Node, 'eval')
  expect(silent).toEqual([])
  const texts = JSON.stringify(schema)
  expect(Object.values(DESCRIPTIONS).filter((text) => !texts.includes(JSON.stringify(text)))).toEqual([])
})

test('the eval.yaml that the README shows is one', () => {
  const path = fileURLToPath(new URL('../examples/eval.yaml', import.meta.url))
  const { value, refuse } = readSettings(path, evalSchema)
  refuse()
  expect(value.repeats).toBe(5)
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
