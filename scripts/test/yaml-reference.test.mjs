import { expect, test } from 'vitest'
import { describeSchema } from '../yaml-reference.mjs'

test('a schema becomes one row a key: its path, what it may be, and what it is for', () => {
  const tool = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const schema = {
    properties: {
      limit: { type: 'integer', description: 'How much | at most.' },
      mode: { enum: ['a', 'b'] },
      tools: { anyOf: [{ type: 'array', items: tool }, { type: 'null' }] },
      when: { oneOf: [{ properties: { is: { const: 'x' } } }, { properties: { is: { const: 'y' } } }] },
    },
    required: ['mode'],
  }
  expect(describeSchema(schema)).toEqual([
    '| `limit` | integer | How much \\| at most. |',
    '| `mode` * | `a`, `b` |  |',
    '| `tools` | list of mapping or nothing |  |',
    '| `tools[].name` * | string |  |',
    '| `when` | any |  |',
    '| `when.is` | `x` |  |',
    '| `when.is` | `y` |  |',
  ])
})
