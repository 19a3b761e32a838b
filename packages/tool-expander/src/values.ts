import type { ExpandedParameter, JsonSchemaProperty, Matches } from './tool.js'

/**
 * Why a value cannot be passed for a parameter; undefined when it can.
 *
 * What passes is written by `String`, so everything whose text would not be the value itself is refused.
 */
export function complaintAbout(
  parameter: ExpandedParameter,
  value: unknown,
  matches?: Matches,
): string | undefined {
  const { type, inject_as } = parameter
  if (type === 'array') {
    if (!Array.isArray(value)) return 'must be a list of texts'
    const complaint = value
      .map((item) => complaintAbout({ ...parameter, type: 'string' }, item, matches))
      .find(Boolean)
    return complaint && `holds a value that ${complaint}`
  }
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

export const NOT_EXACT = 'cannot be passed on exactly; send it as a string'
export const HAS_NUL = 'must not hold a NUL character'

/** False for numbers of which only the beginning is kept. */
export function isPassedOn(value: unknown): boolean {
  return typeof value !== 'number' || Math.abs(value) < 2 ** 53
}

/** How the pattern of a value is matched. */
export interface Matching {
  /** Patterns are those of parameters: they match the whole text of any single value. In JSON Schema they match anywhere in a string. */
  isWhole: boolean
  matches?: Matches | undefined
}

/** What is wrong with a value of the right type. */
export function faultOf(
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
export const KINDS: Record<string, [shape: RegExp, kind: string] | undefined> = {
  integer: [/^-?\d+$/, 'a whole number'],
  number: [/^-?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/i, 'a number'],
  boolean: [/^(?:true|false)$/, 'true or false'],
}

/**
 * True for a finished word a command would read as an option.
 *
 * `-` alone, numbers and a dash before white space are no options anywhere, though `printf` complains of `- x`; `-4oProxyCommand=…` is one.
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
