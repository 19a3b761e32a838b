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
export function longFlag(option: AtipOption): string {
  const { flags } = option
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
  const properties: Record<string, ParameterSchema> = {}
  const required: string[] = []
  for (const parameter of [...(leaf.command.arguments ?? []), ...leaf.options]) {
    const needed = isRequired(parameter)
    setMember(properties, parameter.name, toSchema(parameter, strict && !needed))
    if (strict || needed) required.push(parameter.name)
  }
  return { type: 'object', properties, required }
}

/** A parameter may be called `__proto__`: assigned, it would become the prototype; defined, it is just a name. */
function setMember<T>(target: Record<string, T>, name: string, value: T): void {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
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
