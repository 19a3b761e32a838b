import { nearestNames } from '@delta/executor'
import type * as z from 'zod/mini'
import type { ValuePath } from './path.js'

/** Something that does not fit a schema, in words for the person who wrote the value. */
export interface ShapeProblem {
  path: ValuePath
  message: string
  hint?: string
  /** True for a key that no schema knows; the value is usable without it. */
  unknownKey?: true
}

/**
 * Fits a value to a strict schema.
 *
 * Unknown keys are reported but do not stop the rest from being read; keys that begin with `x-` are the author's own.
 *
 * @param known - The keys a mistyped one may have meant.
 * @returns the parsed value (undefined if anything but unknown keys is wrong) and every problem.
 */
export function fitShape<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  known: readonly string[],
): { value?: T; problems: ShapeProblem[] } {
  const first = schema.safeParse(value)
  if (first.success) return { value: first.data, problems: [] }

  const issues = first.error.issues.flatMap(ofTheBranchMeant)
  const problems = issues.flatMap((issue) => describeIssue(issue, value, known))
  if (issues.some((issue) => issue.code !== 'unrecognized_keys')) return { problems }

  const second = schema.safeParse(issues.reduce(withoutUnknownKeys, value))
  return second.success ? { value: second.data, problems } : { problems }
}

/**
 * What is left of a map with mistakes, so that the rest of it is looked at, too. A single value in place of a list of files is
 * taken for a list of one. Good for finding more mistakes, never for use.
 */
export function withoutFaults<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  problems: readonly ShapeProblem[],
  known: readonly string[],
  missing: Record<string, unknown> = {},
): T | undefined {
  if (!isMap(value)) return undefined
  const faulty = new Set(problems.map(({ path }) => path[0]))
  const rest = Object.entries(value).filter(([key]) => !faulty.has(key))
  const files = typeof value.imports === 'string' ? { imports: [value.imports] } : {}
  return fitShape(schema, { ...missing, ...Object.fromEntries(rest), ...files }, known).value
}

type Issue = z.core.$ZodIssue

/** A union says only that no form fits; the issues worth telling are those of the form whose kind was used. */
function ofTheBranchMeant(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const branch = issue.errors.find(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  if (branch === undefined) return [issue]
  return branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function describeIssue(issue: Issue, value: unknown, known: readonly string[]): ShapeProblem[] {
  const path = issue.path as (string | number)[]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.filter((key) => !key.startsWith('x-')).map((key) => unknownKey([...path, key], known))
  }
  const found = valueAt(value, path)
  const name = path.at(-1)
  if (found === undefined && typeof name === 'string') {
    return [
      {
        path: path.slice(0, -1),
        message: `"${name}" is missing`,
        hint: `Add "${name}:" with ${wanted(issue)}.`,
      },
    ]
  }
  if (issue.code === 'too_small' && issue.origin !== 'number') return [{ path, message: 'must not be empty' }]
  const hint = hintFor(wanted(issue), found)
  return [
    {
      path,
      message: `must be ${wanted(issue)}, not ${show(found)}`,
      ...(hint === undefined ? {} : { hint }),
    },
  ]
}

function hintFor(kind: string, found: unknown): string | undefined {
  if (kind === 'a number' && typeof found === 'string' && /^\d+$/.test(found))
    return 'Write it without quotes.'
  if (kind !== 'a list') return undefined
  if (!isMap(found)) return 'Begin each element with "- ", also a single one.'
  return 'Begin each element with "- "; what is the key here is written as "name:" in it.'
}

function unknownKey(path: ValuePath, known: readonly string[]): ShapeProblem {
  const key = String(path.at(-1))
  const [nearest] = nearestNames(key, known)
  const hint = nearest === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${nearest}"?`
  return { path, message: `unknown key "${key}"`, hint, unknownKey: true }
}

const KINDS: Record<string, string> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
}

function wanted(issue: Issue): string {
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_union') return issue.errors.flat().map(wanted).join(' or ')
  if (issue.code === 'invalid_value') return `one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `at least ${issue.minimum}`
  if (issue.code === 'too_big') return `at most ${issue.maximum}`
  return issue.message
}

function show(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string'
    ? JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
    : String(value)
}

function valueAt(value: unknown, path: ValuePath): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string | number, unknown> | undefined)?.[key], value)
}

/** The same value without the keys of one `unrecognized_keys` issue; nothing given is changed. */
function withoutUnknownKeys(value: unknown, issue: Issue): unknown {
  return issue.code === 'unrecognized_keys'
    ? omit(value, issue.path as (string | number)[], issue.keys)
    : value
}

function omit(value: unknown, path: ValuePath, keys: readonly string[]): unknown {
  const [step, ...rest] = path
  if (step === undefined) {
    return Object.fromEntries(Object.entries(value as object).filter(([key]) => !keys.includes(key)))
  }
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? omit(item, rest, keys) : item))
  const map = value as Record<string, unknown>
  return { ...map, [step]: omit(map[step], rest, keys) }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
