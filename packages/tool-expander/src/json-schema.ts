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
  return {
    type: 'object',
    properties: Object.fromEntries(
      tool.parameters.map((parameter) => [parameter.name, propertyOf(parameter)]),
    ),
    required: tool.parameters.filter(({ required }) => required).map(({ name }) => name),
    additionalProperties: false,
  }
}

/**
 * A tool in OpenAI's shape.
 *
 * @param options.strict - For strict mode every parameter is required and optional ones may be null,
 *   which `bindArguments` reads as absent. Defaults move into the description: strict mode knows none.
 */
export function toFunctionTool(tool: ExpandedTool, options: { strict?: boolean } = {}): FunctionTool {
  const { name, description } = tool
  const parameters = options.strict ? strictSchema(tool) : toJsonSchema(tool)
  return {
    type: 'function',
    function: {
      name,
      ...(description === undefined ? {} : { description }),
      parameters,
      ...(options.strict ? { strict: true } : {}),
    },
  }
}

function propertyOf(parameter: ExpandedParameter): JsonSchemaProperty {
  const { type, description, default: value } = parameter
  const isText = type === 'string' || type === 'array'
  const limits = {
    ...(parameter.enum === undefined ? {} : { enum: [...parameter.enum] }),
    ...(parameter.pattern === undefined || !isText ? {} : { pattern: `^(?:${parameter.pattern})$` }),
  }
  return {
    type,
    ...(description === undefined ? {} : { description }),
    ...(type === 'array' ? { items: { type: 'string', ...limits } } : limits),
    ...(value === undefined || (value === '' && type !== 'string') ? {} : { default: value }),
  }
}

function strictSchema(tool: ExpandedTool): JsonSchema {
  const schema = toJsonSchema(tool)
  const properties = tool.parameters.map((parameter) => {
    const { default: value, ...property } = propertyOf(parameter)
    if (parameter.required) return [parameter.name, property]
    const sentences = [
      property.description?.replace(/(?<![.!?])$/, '.'),
      value !== undefined && `Default: ${JSON.stringify(value)}.`,
    ]
    const description = sentences.filter(Boolean).join(' ')
    return [
      parameter.name,
      {
        ...property,
        type: [parameter.type, 'null'],
        ...(property.enum === undefined ? {} : { enum: [...property.enum, null] }),
        ...(description === '' ? {} : { description }),
      },
    ]
  })
  return {
    ...schema,
    properties: Object.fromEntries(properties),
    required: tool.parameters.map(({ name }) => name),
  }
}
