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
    agent: schemaOf(
      'agent',
      z.extend(agentSchema, { llm: llmSchema, policy: z.optional(policySchema), imports, tools }),
    ),
    tools: schemaOf('tools', z.extend(toolFileSchema, { imports, tools })),
    context: schemaOf('context', manifestSchema),
    hooks: schemaOf('hooks', hooks),
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
  additionalProperties?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  description?: string
}

function schemaOf(name: SchemaName, schema: z.ZodMiniType): JsonSchema {
  return editorSchema(`${name}.yaml of a Delta agent`, schema, DESCRIPTIONS)
}

/**
 * The JSON Schema (draft 7) of a YAML file for editors; keys that begin with `x-` may be anything.
 *
 * @param descriptions - Of keys that have none, by their place: `[]` is an element of a list, and `<name>` any key.
 */
export function editorSchema(
  title: string,
  schema: z.ZodMiniType,
  descriptions: Readonly<Record<string, string>>,
): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    target: 'draft-7',
    io: 'input',
    override: allowOwnKeys,
  }) as JsonSchema
  describeKeys(rest, '', descriptions)
  return { $schema, title, ...rest }
}

function describeKeys(
  schema: JsonSchema,
  place: string,
  descriptions: Readonly<Record<string, string>>,
): void {
  for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) describeKeys(one, place, descriptions)
  if (schema.items) describeKeys(schema.items, `${place}[]`, descriptions)
  if (schema.additionalProperties) describeKeys(schema.additionalProperties, `${place}.<name>`, descriptions)
  for (const [key, value] of Object.entries(schema.properties ?? {})) {
    const inner = place === '' ? key : `${place}.${key}`
    const description = isDescribed(value) ? undefined : descriptions[inner.replace(/^lifecycle_hooks\./, '')]
    if (description !== undefined) value.description = description
    describeKeys(value, inner, descriptions)
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
