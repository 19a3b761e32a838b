import * as z from 'zod/mini'
import { type ValuePath, valueAt } from './value-path.js'

/** The keys of a mapping, in the order of its schema. */
export interface MappingKeys {
  known: readonly string[]
  /** Those that must be there. */
  needed: readonly string[]
}

/** The keys of the mapping that belongs at a path of a value; of several forms, those of the form that the value has. */
export function keysAt(schema: z.core.$ZodType, value: unknown, path: ValuePath = []): MappingKeys {
  const { properties = {}, required = [] } = schemaAt(asJsonSchema(schema), value, path)
  return { known: Object.keys(properties), needed: required }
}

type JsonSchema = z.core.JSONSchema.BaseSchema

const made = new WeakMap<z.core.$ZodType, JsonSchema>()

/** Each schema is converted once: that takes as long as reading a file, and a thousand tools may have the same mistake. */
function asJsonSchema(schema: z.core.$ZodType): JsonSchema {
  const json = made.get(schema) ?? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  made.set(schema, json)
  return json
}

function schemaAt(schema: JsonSchema, value: unknown, path: ValuePath): JsonSchema {
  const forms = schema.anyOf ?? schema.oneOf
  if (forms) return schemaAt(forms.find((form) => isMeant(form, value)) ?? {}, value, path)
  const [step, ...rest] = path
  if (step === undefined) return schema
  const inner = schema.properties?.[step] ?? schema.items ?? schema.additionalProperties
  return isSchema(inner) ? schemaAt(inner, valueAt(value, [step]), rest) : {}
}

/** A form that is a mapping is meant unless one of its fixed values says otherwise: `type: journal` is not a file. */
function isMeant({ type, properties }: JsonSchema, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  const fixed = Object.entries(properties ?? {}).filter(([, inner]) => isSchema(inner) && 'const' in inner)
  return (
    type === 'object' && fixed.every(([key, inner]) => (inner as JsonSchema).const === valueAt(value, [key]))
  )
}

function isSchema(schema: unknown): schema is JsonSchema {
  return typeof schema === 'object' && !Array.isArray(schema)
}
