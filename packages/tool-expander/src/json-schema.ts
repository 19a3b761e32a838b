import { checkExpanded } from './check-expanded.js'
import { defined } from './defined.js'
import type { ExpandedParameter, ExpandedTool, ParameterType } from './tool.js'

/** The part of JSON Schema that describes a tool's arguments. */
export type JsonSchema = {
  type: 'object'
  properties: Record<string, JsonSchemaProperty>
  required: string[]
  additionalProperties: false
}

type JsonSchemaType = ParameterType | 'null'

/** What one argument may be. A list of types means that it may also be null: see `strict`. */
export interface JsonSchemaProperty {
  type: JsonSchemaType | JsonSchemaType[]
  description?: string
  enum?: (string | number | boolean | null)[]
  pattern?: string
  default?: string | number | boolean | (string | number | boolean)[]
  items?: { type: 'string'; enum?: (string | number | boolean)[]; pattern?: string }
}

/** A tool as the `tools` entry of a chat completion request. Type aliases, not interfaces: other libraries take such objects as `Record<string, unknown>`. */
export type FunctionTool = {
  type: 'function'
  function: { name: string; description?: string; parameters: JsonSchema; strict?: boolean }
}

/**
 * The arguments a tool takes, as JSON Schema; properties in the order of the template.
 *
 * @throws {ToolExpansionError} `ERR_USAGE`: the tool is not expanded.
 */
export function toJsonSchema(tool: ExpandedTool): JsonSchema {
  return schemaOf(tool)
}

/**
 * A tool in OpenAI's shape.
 *
 * @param options.strict - For strict mode every parameter is required and optional ones may be null,
 *   which `bindArguments` reads as absent. Defaults move into the description: strict mode knows none.
 *   Default false.
 * @throws {ToolExpansionError} `ERR_USAGE`: the tool is not expanded.
 */
export function toFunctionTool(tool: ExpandedTool, options?: { strict?: boolean | undefined }): FunctionTool {
  const strict = options?.strict || undefined
  const parameters = schemaOf(tool, strict)
  const { name, description } = tool
  return { type: 'function', function: defined({ name, description, parameters, strict }) }
}

function schemaOf(tool: ExpandedTool, strict = false): JsonSchema {
  checkExpanded(tool)
  const { parameters } = tool
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, propertyOf(parameter, strict && !parameter.required)]),
    ),
    required: parameters.filter(({ required }) => strict || required).map(({ name }) => name),
    additionalProperties: false,
  }
}

/** @param nullable - Null stands for absent, and the default is told in words. */
function propertyOf(parameter: ExpandedParameter, nullable: boolean): JsonSchemaProperty {
  const { type, description, enum: allowed, pattern, default: value } = parameter
  const isList = type === 'array'
  const isText = isList || type === 'string'
  // An empty default that is no text only keeps a place in a script.
  const typed = TYPED[type] ?? Number
  const shown = value === undefined || (value === '' && type !== 'string') ? undefined : typed(value)
  const limits = defined({
    enum: allowed && [...allowed.map(typed), ...(nullable && !isList ? [null] : [])],
    pattern: isText && pattern !== undefined ? `^(?:${pattern})$` : undefined,
  })
  const sentences = [description?.replace(/(?<![.!?])$/, '.'), `Default: ${JSON.stringify(shown)}.`]
  return defined({
    type: nullable ? [type, 'null' as const] : type,
    description: nullable && shown !== undefined ? sentences.filter(Boolean).join(' ') : description,
    ...(isList ? { items: { type: 'string' as const, ...(limits as object) } } : limits),
    default: nullable ? undefined : shown,
  })
}

/** As the schema's type has it: in YAML, `default: "8080"` of an integer is a text, and `enum: [2024]` of a text is a number. */
const TYPED: Partial<Record<ParameterType, (value: unknown) => string | number | boolean>> = {
  string: String,
  boolean: (value) => String(value) === 'true',
  array: (value) => value as never, // a list, or an entry of its enum, stays what it is
}
