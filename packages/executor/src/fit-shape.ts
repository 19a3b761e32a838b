import type { Problem } from '@delta/tool-expander'
import type * as z from 'zod/mini'

/** A place inside a value of YAML: keys and list indexes, outermost first. */
export type ValuePath = readonly (string | number)[]

/** What does not fit at a place of a value. */
export type ShapeProblem = Omit<Problem, 'path'> & { path: ValuePath }

/**
 * Fits what a person wrote to a strict schema, and describes what does not fit in one wording for all files.
 *
 * Unknown keys are reported, and the rest is read all the same; keys that begin with `x-` are the author's own. A schema
 * without an `error` is described by its kind; an `error` completes the sentence "must be …".
 *
 * @param alsoKnown - Keys besides the schema's own that a mistyped one may have meant.
 * @returns the parsed value (undefined if anything but unknown keys is wrong) and every problem.
 */
export function fitShape<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  alsoKnown: readonly string[] = [],
): { value?: T; problems: ShapeProblem[] } {
  const first = schema.safeParse(value, { error: wanted })
  if (first.success) return { value: first.data, problems: [] }
  const issues = first.error.issues.flatMap(ofTheBranchMeant)
  const problems = issues.flatMap((issue) => describe(issue, schema, value, alsoKnown))
  if (issues.some(({ code }) => code !== 'unrecognized_keys')) return { problems }
  const second = schema.safeParse(issues.reduce(withoutKeys, value))
  return second.success ? { value: second.data, problems } : { problems }
}

type Issue = z.core.$ZodIssue

/** A union only says that no form fits; the useful issues are those of the form whose kind was used. */
function ofTheBranchMeant(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const branch = issue.errors.find(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  return branch?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })) ?? [issue]
}

/** The same value without the keys of one issue; nothing given is changed. */
function withoutKeys(value: unknown, issue: Issue): unknown {
  return issue.code === 'unrecognized_keys' ? omit(value, issue.path, issue.keys) : value
}

function omit(value: unknown, [step, ...rest]: readonly PropertyKey[], keys: readonly string[]): unknown {
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? omit(item, rest, keys) : item))
  const entries = Object.entries(value as object)
  if (step === undefined) return Object.fromEntries(entries.filter(([key]) => !keys.includes(key)))
  return Object.fromEntries(entries.map(([key, item]) => [key, key === step ? omit(item, rest, keys) : item]))
}

const KINDS: Record<string, string> = {
  string: 'a string',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  record: 'a mapping',
}

/** The error map: what is wanted at a place, to complete "must be …". */
const wanted: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected === 'object' ? mapWith(issue.inst) : KINDS[issue.expected]
    case 'invalid_value':
      return oneOf(issue.values)
    case 'invalid_union':
      return (
        oneOf(optionsOf(issue)) ||
        issue.errors.flatMap((errors) => errors.map(({ message }) => message)).join(' or ')
      )
    case 'too_small':
      return `at least ${issue.minimum}`
    case 'too_big':
      return `at most ${issue.maximum}`
    default:
      return undefined
  }
}

type Schema = z.core.$ZodType
type Shape = Record<string, Schema>

/** What a schema is made of; which of these there are depends on its kind. */
interface SchemaParts {
  shape?: Shape
  options?: readonly Schema[]
  discriminator?: string
  element?: Schema
  valueType?: Schema
  innerType?: Schema
  in?: Schema
  getter?: () => Schema
}

function partsOf(schema: unknown): SchemaParts {
  const parts = (schema as { _zod?: { def: SchemaParts } } | undefined)?._zod?.def ?? {}
  return parts.getter ? partsOf(parts.getter()) : parts // a lazy schema is what it gives
}

/** The keys of the mapping that belongs at a path; of several forms, those of the form that the value has. */
function shapeAt(schema: unknown, value: unknown, path: ValuePath): Shape {
  const { options, discriminator: key, shape = {}, element, valueType, ...parts } = partsOf(schema)
  const isMeant = (option: Schema) => {
    const keys = partsOf(option).shape
    return key === undefined ? keys : keys?.[key]?._zod.values?.has(valueAt(value, [key]) as string)
  }
  const inner = parts.innerType ?? parts.in ?? options?.find(isMeant)
  if (inner) return shapeAt(inner, value, path)
  const [step, ...rest] = path
  if (step === undefined) return shape
  return shapeAt(shape[step] ?? element ?? valueType, valueAt(value, [step]), rest)
}

function mapWith(schema: unknown): string {
  const needed = neededKeys(shapeAt(schema, undefined, []))
  return needed.length === 0 ? 'a mapping' : `a mapping with "${needed.join('", "')}"`
}

function neededKeys(shape: Shape): string[] {
  return Object.keys(shape).filter((key) => shape[key]?._zod.optin === undefined)
}

/** The values of the key that tells the forms of a union apart. */
function optionsOf(issue: object): readonly unknown[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options : []
}

function oneOf(values: readonly unknown[]): string {
  return values.length > 1 ? `one of ${values.join(', ')}` : values.join('')
}

/** An issue of the schema's as a problem. */
function describe(
  issue: Issue,
  schema: Schema,
  value: unknown,
  alsoKnown: readonly string[],
): ShapeProblem[] {
  const path = issue.path as ValuePath
  const shape = shapeAt(schema, value, path)
  if (issue.code === 'unrecognized_keys') {
    const known = [...Object.keys(shape), ...(path.length === 0 ? alsoKnown : [])]
    const keys = issue.keys.filter((key) => !key.startsWith('x-'))
    const hint = `Known here: ${known.join(', ')}.`
    return keys.map((key) => ({ hint, ...unknownKey(key, known), path: [...path, key] }))
  }
  const found = valueAt(value, path)
  const name = path.at(-1)
  if (found === undefined && typeof name === 'string') {
    const hint = `Add "${name}:" with ${issue.message}.`
    return [{ path: path.slice(0, -1), message: `"${name}" is missing`, hint }]
  }
  if (issue.code === 'custom' || issue.code === 'invalid_key') return [{ path, message: issue.message }]
  if (issue.code === 'too_small' && issue.origin !== 'number') return [{ path, message: 'must not be empty' }]
  const message = `must be ${issue.message}, got ${showValue(found)}`
  return [{ path, message, hint: hintFor(issue, found, shape) }]
}

function hintFor(issue: Issue, found: unknown, shape: Shape): string | undefined {
  const expected = issue.code === 'invalid_type' ? issue.expected : undefined
  if (typeof found === 'string') {
    if (expected === 'number' && /^\d+$/.test(found)) return 'Write it without quotes.'
    if (neededKeys(shape).join() === 'command') return `Write: { command: ${commandOf(found)} }`
    if (expected === 'array' && issue.path.at(-1) === 'command') return `Write: command: ${commandOf(found)}`
    if (issue.code === 'invalid_value') return didYouMean(found, issue.values.map(String))
    if (issue.code === 'invalid_union') return didYouMean(found, optionsOf(issue).map(String))
  }
  if (expected === 'string' && ['number', 'boolean'].includes(typeof found)) return 'Write it in quotes.'
  if (expected !== 'array') return undefined
  if (typeof found !== 'object') return 'Begin each element with "- ", also a single one.'
  return 'Begin each element with "- ", and write the key as "name:" in it.'
}

/** The problem of a key that is not among the known ones; the hint names one that is near. */
export function unknownKey(key: string, known: readonly string[]): Omit<ShapeProblem, 'path'> {
  const [nearest] = nearestNames(key, known)
  const isNear = nearest !== undefined && { nearest, hint: `Did you mean "${nearest}"?` }
  return { message: `unknown key "${key}"`, unknownKey: true, ...isNear }
}

function didYouMean(wrong: string, known: readonly string[]): string | undefined {
  const [nearest] = nearestNames(wrong, known)
  return nearest === undefined ? undefined : `Did you mean "${nearest}"?`
}

/** A command that was written as one string, as a list; with a shell if it needs one. */
function commandOf(text: string): string {
  return JSON.stringify(/[|&;<>$`"'*]/.test(text) ? ['sh', '-c', text] : text.split(/\s+/))
}

type CamelCase<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Key

/** A mapping with its keys in camelCase: `allowNetwork` for `allow_network`. */
type InCamelCase<Written> = {
  [Key in keyof Written as CamelCase<Key & string>]: Exclude<Written[Key], undefined>
}

/** The written entries of a mapping, with keys in camelCase. Mappings inside stay as they are. */
export function inCamelCase<Written extends object>(written: Written): InCamelCase<Written> {
  const entries = Object.entries(written).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replaceAll(/_(.)/g, (_, letter) => letter.toUpperCase()), value]),
  ) as InCamelCase<Written>
}

/** A value as a message names it. */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
}

/** The value at a path; undefined if there is nothing. */
export function valueAt(value: unknown, path: ValuePath): unknown {
  return path.reduce<unknown>(
    (at, key) => (at as Record<string | number, unknown> | undefined | null)?.[key],
    value,
  )
}

/** `parameters[1].inject_as`. */
export function formatPath(path: ValuePath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}

/** Longer names are cut: the work grows with the square of the length. */
const LONGEST = 64

/**
 * Up to three of `names` that `wanted` may be a misspelling of, likeliest first.
 *
 * Capitals, `-`, `_` and the order of the words do not count: `readFile` and `file-read` are `read_file`. Two swapped letters
 * are one mistake. Names that continue the wanted one come last: `timeout_ms` for `timeout`.
 *
 * @param mostEdits - How many letters may be wrong. Default: one in four, and at least one.
 */
export function nearestNames(wanted: string, names: Iterable<string>, mostEdits?: number): string[] {
  const most = mostEdits ?? Math.max(1, Math.floor(Math.min(wanted.length, LONGEST) / 4))
  const target = wordsOf(wanted.slice(0, LONGEST))
  if (target.join('') === '') return [] // near to every short name
  const known = [...names].map((name) => ({ name, words: wordsOf(name) }))
  const near = known
    .map(({ name, words }) => ({ name, edits: unlikeness(target, words, most) }))
    .filter(({ edits }) => edits <= most)
    .sort((one, other) => one.edits - other.edits)
  const longer = known.filter(({ words }) => words.join('_').startsWith(`${target.join('_')}_`))
  return [...new Set([...near, ...longer].map(({ name }) => name))].slice(0, 3)
}

function wordsOf(name: string): string[] {
  const apart = name.replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase()
  return apart.split(/[^a-z0-9]+/)
}

function unlikeness(words: readonly string[], others: readonly string[], mostEdits: number): number {
  const [one = '', sorted = ''] = [words, words.toSorted()].map((each) => each.join(''))
  const [other = '', otherSorted = ''] = [others, others.toSorted()].map((each) => each.join(''))
  if (Math.abs(one.length - other.length) > mostEdits) return Number.POSITIVE_INFINITY
  return Math.min(editDistance(one, other), editDistance(sorted, otherSorted))
}

/** Optimal string alignment: insert, delete, replace, swap neighbours. */
function editDistance(from: string, to: string): number {
  let before: number[] = []
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const replaced = (row[j - 1] ?? 0) + (isSame ? 0 : 1)
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : replaced
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    before = row
    row = next
  }
  return row[to.length] ?? 0
}
