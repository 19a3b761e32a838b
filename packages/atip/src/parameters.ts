import type { AtipLeaf } from './leaves.js'
import type { AtipArgument, AtipOption } from './metadata.js'
import type { ParameterSchema, ParametersSchema } from './providers.js'

const HINTS: Partial<Record<AtipArgument['type'], string>> = {
  file: ' (file path)',
  directory: ' (directory path)',
  url: ' (URL)',
}

/** A parameter is an argument (required unless it says otherwise) or an option (the other way round). */
export function isRequired(parameter: AtipArgument | AtipOption): boolean {
  return 'flags' in parameter ? parameter.required === true : parameter.required !== false
}

/** Takes several values: an `array`, or any type that may be repeated. */
export function isRepeated(parameter: AtipArgument | AtipOption): boolean {
  return parameter.type === 'array' || parameter.variadic === true
}

/** The flag to write: the first long one, or the first there is. */
export function longFlag({ flags }: AtipOption): string {
  return flags.find((flag) => flag.startsWith('--')) ?? flags[0] ?? ''
}

/** The JSON type of one value. */
export function valueType(parameter: AtipArgument | AtipOption): 'string' | 'integer' | 'number' | 'boolean' {
  switch (parameter.type) {
    case 'integer':
    case 'number':
    case 'boolean':
      return parameter.type
    case 'enum':
      return parameter.enum?.every((value) => typeof value === 'number') ? 'number' : 'string'
    default:
      return 'string'
  }
}

/**
 * A leaf's arguments and options as one JSON Schema object.
 *
 * @param options.strict - OpenAI's strict mode: every parameter is required, and `null` stands
 *   for an optional one that is absent.
 */
export function toParameters(leaf: AtipLeaf, { strict = false } = {}): ParametersSchema {
  const parameters = [...(leaf.command.arguments ?? []), ...leaf.options]
  return {
    type: 'object',
    // fromEntries makes own properties, so a parameter named "__proto__" is just a name.
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, toSchema(parameter, strict && !isRequired(parameter))]),
    ),
    required: parameters.filter((parameter) => strict || isRequired(parameter)).map(({ name }) => name),
  }
}

function toSchema(parameter: AtipArgument | AtipOption, nullable: boolean): ParameterSchema {
  const description = (parameter.description ?? '') + (HINTS[parameter.type] ?? '')
  const values = parameter.enum === undefined ? {} : { enum: parameter.enum }
  if (isRepeated(parameter)) {
    const items = { type: valueType(parameter), ...values }
    return { type: nullable ? ['array', 'null'] : 'array', description, items }
  }
  const type = valueType(parameter)
  if (!nullable) return { type, description, ...values }
  return { type: [type, 'null'], description, ...(parameter.enum && { enum: [...parameter.enum, null] }) }
}
