import { manifestSchema } from '@delta/context/internal'
import { policySchema, settingsSchema } from '@delta/executor/internal'
import { llmSchema } from '@delta/model/internal'
import { toolSchemas } from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import { agentSchema, importSchema, toolFileSchema } from './agent-schema.js'
import { DESCRIPTIONS } from './descriptions.js'
import { HOOK_NAMES, hookSchema } from './hooks.js'

const { Definition, Parameter } = toolSchemas()
const jsonSchema = z.optional(z.looseObject({}))

/** A tool as editors offer it: the keys of the expander and the executor, but for those that only an expanded tool has. */
const toolEditorSchema = z
  .extend(z.omit(Definition, { substitute: true, checked_words: true, __meta: true }), {
    ...settingsSchema._zod.innerType.shape,
    input_schema: jsonSchema,
    parameters: z.optional(
      z.array(
        z.extend(z.omit(Parameter, { raw: true }), {
          position: z.optional(z.int()),
          items: jsonSchema,
          properties: jsonSchema,
        }),
      ),
    ),
  })
  .check(z.meta({ oneOf: ['exec', 'shell', 'command'].map((mode) => ({ required: [mode] })) }))

/**
 * JSON Schemas (draft 7) of all files of an agent, for completion and checks in editors.
 *
 * @example
 * const { agent } = jsonSchemas()
 */
export function jsonSchemas(): Record<SchemaName, JsonSchema> {
  return {
    agent: toJsonSchema(
      'agent',
      z.extend(agentSchema, { llm: llmSchema, policy: z.optional(policySchema), imports, tools }),
    ),
    tools: toJsonSchema('tools', z.extend(toolFileSchema, { imports, tools })),
    context: toJsonSchema('context', manifestSchema),
    hooks: toJsonSchema('hooks', hooks),
  }
}

const tools = z.optional(z.nullable(z.array(toolEditorSchema)))
const imports = z.optional(
  z.nullable(z.array(importSchema).check(z.describe('Files with tools. The last tool of a name counts.'))),
)
const namedHooks = z.strictObject(
  Object.fromEntries(HOOK_NAMES.map((name) => [name, z.optional(hookSchema)])),
)
const hooks = z.union([namedHooks, z.strictObject({ lifecycle_hooks: namedHooks })])

type SchemaName = 'agent' | 'tools' | 'context' | 'hooks'

interface JsonSchema {
  [key: string]: unknown
  properties?: Record<string, JsonSchema>
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  description?: string
}

function toJsonSchema(name: SchemaName, schema: z.ZodMiniType): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: allowOwnKeys,
  }) as JsonSchema
  describeKeys(rest, '')
  return { $schema, title: `${name}.yaml of a Delta agent`, ...rest }
}

function describeKeys(schema: JsonSchema, place: string): void {
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) describeKeys(one, place)
  if (schema.items) describeKeys(schema.items, `${place}[]`)
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const inner = place === '' ? key : `${place}.${key}`
    const description = isDescribed(value) ? undefined : DESCRIPTIONS[inner.replace(/^lifecycle_hooks\./, '')]
    if (description !== undefined) value.description = description
    describeKeys(value, inner)
  }
}

/** True if the schema or one of its alternatives has a description. */
function isDescribed({ description, anyOf = [], oneOf = [] }: JsonSchema): boolean {
  return description !== undefined || [...anyOf, ...oneOf].some(isDescribed)
}

/** Allows keys that begin with `x-` everywhere, and leaves out the safe integers as limits. */
function allowOwnKeys({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.additionalProperties === false) jsonSchema.patternProperties = { '^x-': {} }
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
}
