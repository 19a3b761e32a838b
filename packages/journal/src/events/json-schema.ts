import * as z from 'zod/mini'
import { eventSchemas } from './event-schemas.js'

/**
 * The JSON Schema (draft 2020-12) of one journal line.
 *
 * Further fields are allowed everywhere, and so are events of other types, as
 * long as they have `seq`, `timestamp` and `type`.
 */
export function journalJsonSchema(): Record<string, unknown> {
  const known = Object.values(eventSchemas).map((schema) => z.toJSONSchema(schema, { io: 'input' }))
  const other = {
    type: 'object',
    properties: {
      seq: { type: 'integer', minimum: 1 },
      timestamp: { type: 'string' },
      type: { type: 'string', not: { enum: [...Object.keys(eventSchemas), 'RUN_START', 'RUN_END'] } },
    },
    required: ['seq', 'timestamp', 'type'],
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A line of journal.jsonl',
    anyOf: [...known.map(({ $schema: _, ...schema }) => schema), other],
  }
}
