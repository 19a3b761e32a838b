import type { ExpandedParameter, ExpandedTool, JsonSchemaProperty, JsonValue, ParameterType } from './tool.js'
import { defined, schemaOf, wholePattern } from './values.js'

/** The part of JSON Schema that describes a tool's arguments. */
export type JsonSchema = {
  type: 'object'
  properties: Record<string, JsonSchemaProperty>
  required: string[]
  additionalProperties?: boolean | JsonSchemaProperty
}

/** A tool as the `tools` entry of a chat completion request. Type aliases, not interfaces: other libraries take such objects as `Record<string, unknown>`. */
export type FunctionTool = {
  type: 'function'
  function: { name: string; description?: string; parameters: JsonSchema; strict?: boolean }
}

/**
 * The arguments a tool takes, as JSON Schema; properties in the order of the template. An `input_schema` is given as it is.
 *
 * @example
 * toJsonSchema(expandTool({ name: 'list', exec: 'ls -- ${directory}' })).required // ['directory']
 */
export function toJsonSchema(tool: ExpandedTool): JsonSchema {
  return argumentsOf(tool)
}

/**
 * A tool in OpenAI's shape.
 *
 * @param options.strict - For strict mode every parameter is required and optional ones may be null,
 *   which `bindArguments` reads as absent. Defaults move into the description: strict mode knows none. A tool that strict
 *   mode has no words for (an `input_schema`, an object without `properties`, other words of JSON Schema) is given as it
 *   is, without `strict`. Default false.
 * @example
 * toFunctionTool(expandTool({ name: 'list', exec: 'ls -- ${directory}' }), { strict: true })
 * // { type: 'function', function: { name: 'list', strict: true, parameters: { type: 'object', … } } }
 */
export function toFunctionTool(tool: ExpandedTool, options?: { strict?: boolean | undefined }): FunctionTool {
  const strict = (options?.strict && canBeStrict(tool)) || undefined
  const parameters = argumentsOf(tool, strict)
  const { name, description } = tool
  return { type: 'function', function: defined({ name, description, parameters, strict }) }
}

function argumentsOf(tool: ExpandedTool, strict = false): JsonSchema {
  const { parameters, input_schema: schema } = tool
  if (schema)
    return { ...schema, properties: schema.properties ?? {}, required: schema.required ?? [] } as JsonSchema
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, propertyOf(parameter, strict)]),
    ),
    required: parameters.filter(({ required }) => strict || required).map(({ name }) => name),
    additionalProperties: false,
  }
}

/** A parameter as the model sees it. In strict mode null stands for absent, and the description names the default. */
function propertyOf(parameter: ExpandedParameter, strict: boolean): JsonSchemaProperty {
  const { type, required, description, default: value } = parameter
  const isNullable = strict && !required
  // An empty default that is not a string only keeps a place in a script.
  const typed = TYPED[type] ?? Number
  const shown = value === undefined || (value === '' && type !== 'string') ? undefined : typed(value)
  const sentences = [description?.replace(/(?<![.!?])$/, '.'), `Default: ${JSON.stringify(shown)}.`]
  const { type: _, enum: allowed, pattern, ...schema } = asSeen(schemaOf(parameter), strict)
  const property = {
    type,
    description: isNullable && shown !== undefined ? sentences.filter(Boolean).join(' ') : description,
    enum: allowed?.map(typed),
    pattern: type === 'string' ? pattern : undefined, // JSON Schema knows it for strings alone
    ...schema,
    default: isNullable ? undefined : shown,
  }
  return isNullable ? nullable(defined(property)) : defined(property)
}

/** A schema whose patterns match whole values, as those of parameters do; in strict mode all properties are required, and may be null instead. */
function asSeen(schema: JsonSchemaProperty, strict: boolean): JsonSchemaProperty {
  const { pattern, items, properties, required = [] } = schema
  const entries = Object.entries(properties ?? {}).map(([name, property]) => {
    const inner = asSeen(property, strict)
    return [name, strict && !required.includes(name) ? nullable(inner) : inner] as const
  })
  return {
    ...schema,
    ...(pattern !== undefined && { pattern: wholePattern(pattern) }),
    ...(items && { items: asSeen(items, strict) }),
    ...(properties && { properties: Object.fromEntries(entries) }),
    ...(properties && strict && { required: Object.keys(properties), additionalProperties: false }),
  }
}

function nullable(schema: JsonSchemaProperty): JsonSchemaProperty {
  const { type = [], enum: allowed } = schema
  const types = [type].flat()
  return {
    ...schema,
    type: types.includes('null') ? types : [...types, 'null'],
    ...(allowed && { enum: [...allowed, null] }),
  }
}

/** What strict mode knows of JSON Schema. */
const STRICT_WORD =
  /^(?:type|description|title|enum|pattern|format|properties|required|additionalProperties|items|m(?:in|ax)Items|multipleOf|(?:exclusiveM|m)(?:in|ax)imum)$/

function canBeStrict({ parameters, input_schema: schema }: ExpandedTool): boolean {
  return !schema && parameters.every((parameter) => isStrict(schemaOf(parameter)))
}

function isStrict(schema: JsonSchemaProperty): boolean {
  const { type, items, properties } = schema
  const types = [type].flat()
  return (
    type !== undefined &&
    !schema.additionalProperties &&
    Object.keys(schema).every((word) => STRICT_WORD.test(word)) &&
    (!types.includes('array') || (items !== undefined && isStrict(items))) &&
    (!types.includes('object') || (properties !== undefined && Object.values(properties).every(isStrict)))
  )
}

/** As the schema's type has it: in YAML, `default: "8080"` of an integer is a string, and `enum: [2024]` of a string is a number. */
const TYPED: Partial<Record<ParameterType, (value: unknown) => JsonValue>> = {
  string: String,
  boolean: (value) => String(value) === 'true',
  array: (value) => value as JsonValue, // what is nested stays what it is
  object: (value) => value as JsonValue,
}
