import type { AtipLeaf } from './leaves.js'
import type { AtipArgument, AtipOption } from './metadata.js'

/** A parameter in JSON Schema. In strict mode an optional one also admits `null`. */
export interface ParameterSchema {
  type: string | string[]
  description: string
  enum?: (string | number | null)[]
  /** For an `array`: the type of its values. */
  items?: { type: string; enum?: (string | number)[] }
}

/** The parameters of a command as one object in JSON Schema. */
export interface ParametersSchema {
  type: 'object'
  properties: Record<string, ParameterSchema>
  /** Names; in strict mode all of them. */
  required: string[]
}

/**
 * A leaf's arguments and options as one JSON Schema object.
 *
 * @param strict - Every parameter is required, and `null` stands for an optional one that is absent.
 */
export function toParameters(leaf: AtipLeaf, strict = false): ParametersSchema {
  const parameters = [...(leaf.command.arguments ?? []), ...leaf.options]
  return {
    type: 'object',
    // Not by assignment: a parameter may be called `__proto__`.
    properties: Object.fromEntries(
      parameters.map((parameter) => [parameter.name, toSchema(parameter, strict && !isRequired(parameter))]),
    ),
    required: parameters.filter((parameter) => strict || isRequired(parameter)).map(({ name }) => name),
  }
}

const HINTS: Partial<Record<AtipArgument['type'], string>> = {
  file: ' (file path)',
  directory: ' (directory path)',
  url: ' (URL)',
}

function toSchema(parameter: AtipArgument | AtipOption, nullable: boolean): ParameterSchema {
  const description = (parameter.description ?? '') + (HINTS[parameter.type] ?? '')
  const type = valueType(parameter)
  const values = parameter.enum
  if (isRepeated(parameter)) {
    const items = values ? { type, enum: [...values] } : { type }
    return { type: nullable ? ['array', 'null'] : 'array', description, items }
  }
  const schema: ParameterSchema = { type: nullable ? [type, 'null'] : type, description }
  if (values) schema.enum = nullable ? [...values, null] : [...values]
  return schema
}

/** An argument is required unless it says otherwise, an option only if it says so. */
export function isRequired(parameter: AtipArgument | AtipOption): boolean {
  return 'flags' in parameter ? parameter.required === true : parameter.required !== false
}

/** Whether it accepts several values: an `array`, or any type that may be repeated. */
export function isRepeated(parameter: AtipArgument | AtipOption): boolean {
  return parameter.type === 'array' || parameter.variadic === true
}

/** The flag to write: the first long one, or the first. */
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
