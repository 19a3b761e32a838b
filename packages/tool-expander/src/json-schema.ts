import { defined } from './defined.js'
import type { ExpandedParameter, ExpandedTool } from './tool.js'

/** The part of JSON Schema that describes a tool's arguments. */
export type JsonSchema = {
  type: 'object'
  properties: Record<string, JsonSchemaProperty>
  required: string[]
  additionalProperties: false
}

export interface JsonSchemaProperty {
  type: string | string[]
  description?: string
  enum?: (string | number | null)[]
  pattern?: string
  default?: unknown
  items?: { type: 'string'; enum?: (string | number)[]; pattern?: string }
}

/** A tool as the `tools` entry of a chat completion request. */
/** Type aliases, not interfaces: other libraries take such objects as `Record<string, unknown>`. */
export type FunctionTool = {
  type: 'function'
  function: { name: string; description?: string; parameters: JsonSchema; strict?: boolean }
}

/** The arguments a tool takes, as JSON Schema; properties in the order of the template. */
export function toJsonSchema(tool: ExpandedTool): JsonSchema {
  return schemaOf(tool, propertyOf)
}

/**
 * A tool in OpenAI's shape.
 *
 * @param options.strict - For strict mode every parameter is required and optional ones may be null,
 *   which `bindArguments` reads as absent. Defaults move into the description: strict mode knows none.
 */
export function toFunctionTool(tool: ExpandedTool, options: { strict?: boolean } = {}): FunctionTool {
  const { name, description } = tool
  const strict: true | undefined = options.strict || undefined
  const parameters = strict ? schemaOf(tool, strictPropertyOf, true) : toJsonSchema(tool)
  return { type: 'function', function: defined({ name, description, parameters, strict }) }
}

function schemaOf(
  { parameters }: ExpandedTool,
  write: (parameter: ExpandedParameter) => JsonSchemaProperty,
  strict?: boolean,
): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((parameter) => [parameter.name, write(parameter)])),
    required: parameters.filter(({ required }) => strict || required).map(({ name }) => name),
    additionalProperties: false,
  }
}

function propertyOf(parameter: ExpandedParameter): JsonSchemaProperty {
  const { type, description, default: value, enum: allowed, pattern } = parameter
  const isText = type === 'string' || type === 'array'
  const limits = defined({
    enum: allowed && [...allowed],
    pattern: isText && pattern !== undefined ? `^(?:${pattern})$` : undefined,
  })
  return defined({
    type,
    description,
    ...(type === 'array' ? { items: { type: 'string' as const, ...limits } } : limits),
    default: value === '' && type !== 'string' ? undefined : value,
  })
}

function strictPropertyOf(parameter: ExpandedParameter): JsonSchemaProperty {
  const { default: value, ...property } = propertyOf(parameter)
  if (parameter.required) return property
  const sentences = [
    property.description?.replace(/(?<![.!?])$/, '.'),
    value !== undefined && `Default: ${JSON.stringify(value)}.`,
  ]
  return defined({
    ...property,
    type: [parameter.type, 'null'],
    enum: property.enum && [...property.enum, null],
    description: sentences.filter(Boolean).join(' ') || undefined,
  })
}
