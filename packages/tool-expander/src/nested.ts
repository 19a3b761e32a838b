import type { ExpandedParameter, JsonSchemaProperty } from './tool.js'
import { defined, faultOf, isPassedOn, KINDS, type Matching, NOT_EXACT } from './values.js'

/** Words of JSON Schema that a parameter may have besides those that are checked. They go to the model. */
export const SCHEMA_WORDS: readonly string[] = [
  ...['format', 'minLength', 'maxLength', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems'],
  ...['additionalProperties', 'examples'],
]

/** True for a parameter whose values hold values with types of their own. In a command such a value is JSON text. */
export function isNested({ type, items }: Pick<ExpandedParameter, 'type' | 'items'>): boolean {
  return type === 'object' || (type === 'array' && items !== undefined)
}

/** What a parameter's values are, as JSON Schema; its patterns match whole values. */
export function schemaOf(parameter: ExpandedParameter): JsonSchemaProperty {
  const { type, items, properties, required_properties: required, enum: allowed, pattern } = parameter
  const { minimum, maximum } = parameter
  const written = parameter as Record<string, unknown>
  const words = Object.fromEntries(SCHEMA_WORDS.map((word) => [word, written[word]]))
  const limits = defined({ enum: allowed, pattern })
  const inner = { ...(items ? {} : { type: 'string' as const }), ...limits, ...items }
  if (type === 'array') return defined({ type, items: inner, ...words })
  if (type === 'object') return defined({ type, properties, required, ...words })
  return defined({ type, ...limits, minimum, maximum, ...words })
}

/** Which values have a type, and what it is called where `KINDS` does not say. */
const TYPES: Record<string, [has: (value: unknown) => boolean, kind?: string] | undefined> = {
  string: [(value) => typeof value === 'string', 'a string'],
  integer: [Number.isInteger],
  number: [(value) => typeof value === 'number'],
  boolean: [(value) => typeof value === 'boolean'],
  array: [Array.isArray, 'a list'],
  object: [isMap, 'an object'],
  null: [(value) => value === null, 'null'],
}

const DEEPEST = 200

/** How a value is looked at. */
export interface FitOptions extends Matching {
  /** Hears what is wrong: the place (`edits[0].old`), and the rest of the sentence. */
  refuse: (place: string, reason: string) => void
}

/**
 * A value as its schema has it. What models mix up gets the type that is wanted (`"5"` for a number, `5` for a string), and
 * `null` is left out where a property may be absent: strict mode sends that.
 */
export function fit(
  schema: JsonSchemaProperty,
  value: unknown,
  place: string,
  options: FitOptions,
  depth = 0,
): unknown {
  const { type = [], items = {}, properties = {}, required = [] } = schema
  const { refuse } = options
  const types = [type].flat()
  const read = types.length === 1 ? asType(types[0] ?? '', value) : value
  const isOfType = types.length === 0 || types.some((name) => TYPES[name]?.[0](read))
  const kinds = types.map((name) => TYPES[name]?.[1] ?? KINDS[name]?.[1])
  const reason =
    (!isOfType && `must be ${kinds.join(' or ')}`) ||
    (!/string|number|boolean|object/.test(typeof read) && 'must be a JSON value') ||
    (!isPassedOn(read) && NOT_EXACT) ||
    (depth > DEEPEST ? 'is nested too deeply' : faultOf(schema, read, options))
  if (reason) refuse(place, reason)
  if (reason || typeof read !== 'object' || read === null) return read

  const inner = (part: unknown, of: JsonSchemaProperty, at: string) => fit(of, part, at, options, depth + 1)
  if (Array.isArray(read)) return read.map((item, index) => inner(item, items, `${place}[${index}]`))
  const placeOf = (key: string) => (place ? `${place}.${key}` : key)
  for (const key of required) if (!Object.hasOwn(read, key)) refuse(placeOf(key), 'is missing')
  const entries = Object.entries(read).flatMap(([key, part]) => {
    const of = Object.hasOwn(properties, key) ? (properties[key] ?? {}) : {}
    const isAbsent = part === null && of.type !== undefined && !required.includes(key) && !mayBeNull(of)
    return isAbsent || part === undefined ? [] : [[key, inner(part, of, placeOf(key))]]
  })
  return Object.fromEntries(entries)
}

function mayBeNull({ type }: JsonSchemaProperty): boolean {
  return [type].flat().includes('null')
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

/** Looked at by itself: inside the parentheses of `wholePattern`, `a)|(b` would be one. */
export function faultOfPattern(pattern = ''): string {
  try {
    return new RegExp(pattern, 'u') && ''
  } catch (error) {
    return (error as SyntaxError).message // the only thing RegExp throws
  }
}

function asType(type: string, value: unknown): unknown {
  if (type === 'string') return /number|boolean/.test(typeof value) ? String(value) : value
  if (typeof value !== 'string' || !KINDS[type]?.[0].test(value)) return value
  return type === 'boolean' ? value === 'true' : Number(value)
}

/** A word of a schema that cannot be checked as it is written. */
interface SchemaFault {
  /** Seen from the schema: `properties`, `old`, `type`. */
  path: string[]
  /** The rest of the sentence. */
  message: string
}

/** What must be true of each word that is checked. */
const WORDS: [word: string, isRight: (value: unknown) => boolean, message: string][] = [
  [
    'type',
    (value) => [value].flat().every((name) => Object.hasOwn(TYPES, String(name))),
    `must be one of: ${Object.keys(TYPES).join(', ')}`,
  ],
  ['properties', isMap, 'must be a map'],
  ['required', isTexts, 'must be a list of names'],
  ['enum', Array.isArray, 'must be a list'],
  ['pattern', (value) => typeof value === 'string' && !faultOfPattern(value), 'must be a regular expression'],
  ['minimum', Number.isFinite, 'must be a number'],
  ['maximum', Number.isFinite, 'must be a number'],
]

/** What is wrong with a schema as it is written. */
export function faultsOf(schema: unknown, path: string[] = []): SchemaFault[] {
  if (typeof schema === 'boolean') return []
  if (!isMap(schema)) return [{ path, message: 'must be a map' }]
  const own = WORDS.filter(([word, isRight]) => schema[word] !== undefined && !isRight(schema[word])).map(
    ([word, , message]) => ({ path: [...path, word], message }),
  )
  const { items, properties } = schema
  const ofItems = items === undefined ? [] : faultsOf(items, [...path, 'items'])
  const ofProperties = Object.entries(isMap(properties) ? properties : {}).flatMap(([name, property]) =>
    faultsOf(property, [...path, 'properties', name]),
  )
  return [...own, ...ofItems, ...ofProperties]
}
