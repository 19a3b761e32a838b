import type * as z from 'zod/mini'
import { keysAt } from './known-keys.js'
import { nearestNames } from './nearest-names.js'
import { showValue, type ValuePath, valueAt } from './value-path.js'

/** What does not fit at a place of a value. */
export interface ShapeProblem {
  path: ValuePath
  /** What is wrong, as a sentence without its place. */
  message: string
  /** What to do about it. */
  hint?: string | undefined
  /** The path is that of a key that nothing reads; the rest is usable without it. */
  unknownKey?: true
  /** The known key that an unknown one is probably a misspelling of. */
  nearest?: string
}

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
      return issue.expected === 'object' ? mapWith(issue.inst as z.core.$ZodType) : KINDS[issue.expected]
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

function mapWith(schema: z.core.$ZodType): string {
  const { needed } = keysAt(schema, undefined)
  return needed.length === 0 ? 'a mapping' : `a mapping with "${needed.join('", "')}"`
}

/** The values of the key that tells the forms of a union apart. */
function optionsOf(issue: object): readonly unknown[] {
  return 'options' in issue && Array.isArray(issue.options) ? issue.options : []
}

function oneOf(values: readonly unknown[]): string {
  return values.length > 1 ? `one of ${values.join(', ')}` : values.join('')
}

function describe(
  issue: Issue,
  schema: z.core.$ZodType,
  value: unknown,
  alsoKnown: readonly string[],
): ShapeProblem[] {
  const path = issue.path as ValuePath
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.filter((key) => !key.startsWith('x-'))
    if (keys.length === 0) return []
    const known = [...keysAt(schema, value, path).known, ...(path.length === 0 ? alsoKnown : [])]
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
  return [{ path, message, hint: hintFor(issue, found, keysAt(schema, value, path).needed) }]
}

function hintFor(issue: Issue, found: unknown, needed: readonly string[]): string | undefined {
  const expected = issue.code === 'invalid_type' ? issue.expected : undefined
  if (typeof found === 'string') {
    if (expected === 'number' && /^\d+$/.test(found)) return 'Write it without quotes.'
    if (needed.join() === 'command') return `Write: { command: ${commandOf(found)} }`
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
