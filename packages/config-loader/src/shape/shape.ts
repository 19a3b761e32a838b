import type * as z from 'zod/mini'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'
import { describeIssue, type Issue, type ShapeProblem } from './shape-problem.js'

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

/** A union says only that no form fits; the issues worth telling are those of the form whose kind was used. */
function ofTheBranchMeant(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue]
  const branch = issue.errors.find(
    (issues) => !issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0),
  )
  if (branch === undefined) return [issue]
  return branch.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
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
