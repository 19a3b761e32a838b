import type { ExpandedParameter, JsonSchemaProperty, Matches } from './tool.js'

/**
 * Why a single value cannot be passed for a parameter; undefined when it can.
 *
 * What passes is written by `String`, so everything whose text would not be the value itself is refused.
 */
export function complaintAbout(
  parameter: ExpandedParameter,
  value: unknown,
  matches?: Matches,
): string | undefined {
  const { type, inject_as } = parameter
  if (!/string|number|boolean/.test(typeof value)) return 'must be a single value'
  const text = String(value)
  const [shape, kind] = KINDS[type] ?? []
  // The text of a number is that number, as the model will have written it unless `type` says it is only a number.
  const isExact = isPassedOn(value) && !Object.is(value, -0) && (type === 'number' || !text.includes('e'))
  if (typeof value === 'number' && !isExact) return NOT_EXACT
  if (shape?.test(text) === false) return `must be ${kind}`
  if (text.includes('\0') && inject_as !== 'stdin') return HAS_NUL
  return faultOf(parameter, value, { isWhole: true, matches })
}

type Limits = Pick<JsonSchemaProperty, 'enum' | 'pattern' | 'minimum' | 'maximum'>

const NOT_EXACT = 'cannot be passed on exactly; send it as a string'
export const HAS_NUL = 'must not contain a NUL character'

/** False for numbers of which only the beginning is kept. */
function isPassedOn(value: unknown): boolean {
  return typeof value !== 'number' || Math.abs(value) < 2 ** 53
}

/** How the pattern of a value is matched. */
interface Matching {
  /** Patterns are those of parameters: they match the whole text of any single value. In JSON Schema they match anywhere in a string. */
  isWhole: boolean
  matches?: Matches | undefined
}

/** What is wrong with a value of the right type. */
function faultOf(
  { enum: allowed, pattern, minimum, maximum }: Limits,
  value: unknown,
  { isWhole, matches = (expression, text) => expression.test(text) }: Matching,
): string | undefined {
  const text = typeof value !== 'object' || allowed ? textOf(value) : ''
  if (!text.isWellFormed()) return 'is not valid Unicode'
  if (allowed?.some((each) => textOf(each) === text) === false)
    return `must be one of: ${allowed.map(textOf).join(', ')}`
  const isText = typeof value === 'string' || (isWhole && typeof value !== 'object')
  const isMatched =
    pattern === undefined ||
    !isText ||
    matches(new RegExp(isWhole ? wholePattern(pattern) : pattern, 'u'), text)
  if (isMatched !== true) return isMatched || `must match /${pattern}/`
  if (typeof value !== 'number' && !isWhole) return undefined
  if (minimum !== undefined && Number(text) < minimum) return `must be at least ${minimum}`
  return maximum !== undefined && Number(text) > maximum ? `must be at most ${maximum}` : undefined
}

/** A value as a word of a command: lists and objects as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** The author's pattern, for the whole value. */
export function wholePattern(pattern: string): string {
  return `^(?:${pattern})$`
}

/** What else than its own type a value may be written as. */
const KINDS: Record<string, [shape: RegExp, kind: string] | undefined> = {
  integer: [/^-?\d+$/, 'a whole number'],
  number: [/^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i, 'a number'],
  boolean: [/^(?:true|false)$/, 'true or false'],
}

/**
 * True for a finished word a command would read as an option.
 *
 * `-` alone, numbers and a dash before white space are not options anywhere, though `printf` complains of `- x`. `-4oProxyCommand=…` is an option.
 */
export function looksLikeOption(word: string): boolean {
  return /^-(?!$|\s|\d+(?:\.\d+)?$)/.test(word)
}

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/** The object without its undefined entries, so that YAML and JSON made of it have no empty keys. */
export function defined<T extends object>(object: T): Defined<T> {
  const kept: Partial<T> = {}
  for (const key in object) if (object[key] !== undefined && key !== '__proto__') kept[key] = object[key]
  return kept as unknown as Defined<T>
}

/** Words of JSON Schema that a parameter may have besides those that are checked. They go to the model. */
export const SCHEMA_WORDS: readonly string[] = [
  ...['format', 'minLength', 'maxLength', 'multipleOf', 'minItems', 'maxItems', 'uniqueItems'],
  ...['additionalProperties', 'examples'],
]

/** True for a parameter whose values hold other values. In a command, each that is not a single value is JSON text. */
export function isNested({ type }: Pick<ExpandedParameter, 'type'>): boolean {
  return type === 'object' || type === 'array'
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
  if (type === 'string')
    return /number|boolean/.test(typeof value) && isPassedOn(value) ? String(value) : value
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
  ['properties', isMap, 'must be a mapping'],
  ['required', isTexts, 'must be a list of names'],
  ['enum', Array.isArray, 'must be a list'],
  ['pattern', (value) => typeof value === 'string' && !faultOfPattern(value), 'must be a regular expression'],
  ['minimum', Number.isFinite, 'must be a number'],
  ['maximum', Number.isFinite, 'must be a number'],
]

/** What is wrong with a schema as it is written. */
export function faultsOf(schema: unknown, path: string[] = []): SchemaFault[] {
  if (typeof schema === 'boolean') return []
  if (!isMap(schema)) return [{ path, message: 'must be a mapping' }]
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
