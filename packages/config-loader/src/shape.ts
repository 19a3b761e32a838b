import { findUnreplaced, nearestNames, type Problem } from '@delta/executor'
import type * as z from 'zod/mini'
import { formatPath, isMap, parsePath, type ValuePath } from './path.js'
import type { Findings } from './problems.js'
import type { YamlFile } from './yaml.js'

/** What a parser found about a value of a file. */
export interface Found extends Omit<Problem, 'path'> {
  /** In the value that was read: keys and indexes, or as other packages write it, as in `parameters[1].inject_as`. */
  path: ValuePath | string
  /** The key is what is wrong, and its value may be for nobody to see. */
  misplacedKey?: true
}

/** A value of a file that is being read, and where its problems go. */
export interface Spot {
  file: YamlFile
  path: ValuePath
  findings: Findings
}

/** What is inside of it. */
export function inside(spot: Spot, ...steps: ValuePath): Spot {
  return { ...spot, path: [...spot.path, ...steps] }
}

/** Reports what is wrong with the value, in a sentence that begins with its path. */
export function wrong({ file, path, findings }: Spot, message: string, hint?: string): void {
  findings.error(file.locate(path), sentence(path, message), hint)
}

/** Reports what a parser found about the value. */
export function report(problems: readonly Found[], spot: Spot, tell = spot.findings.error): void {
  for (const { path: inner, message, hint, unknownKey, misplacedKey, ...at } of problems) {
    const path = [...spot.path, ...(typeof inner === 'string' ? parsePath(inner) : inner)]
    const place = spot.file.locate(path, { ...at, key: unknownKey ?? misplacedKey ?? false })
    if (unknownKey) spot.findings.unknownKey(place, sentence(path.slice(0, -1), message), hint)
    else tell(place, sentence(path, message), hint)
  }
}

/** Reports a name that is none of the known ones, at its key. */
export function reportUnknownName(
  spot: Spot,
  message: string,
  { known, otherwise, tell = spot.findings.error }: UnknownName,
): void {
  const [nearest] = nearestNames(String(spot.path.at(-1)), known)
  const hint = nearest === undefined ? otherwise : `Did you mean "${nearest}"?`
  tell(spot.file.locate(spot.path, { key: true }), message, hint)
}

interface UnknownName {
  known: readonly string[]
  /** The hint where no known name is near. */
  otherwise: string
  tell?: Findings['error']
}

/** `llm.model: must be a text, not 5.` */
export function sentence(path: ValuePath, message: string): string {
  const place = formatPath(path)
  const ended = /[.!?:]$/.test(message) ? message : `${message}.`
  return place === '' ? ended : `${place}: ${ended}`
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
  if (issues.some(({ code }) => code !== 'unrecognized_keys')) return { problems }

  const own = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...(issue.path as ValuePath), key]) : [],
  )
  const second = schema.safeParse(own.reduce<unknown>(without, value))
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
  missing: Record<string, unknown> = {},
): T | undefined {
  if (!isMap(value)) return undefined
  const faulty = new Set(problems.map(({ path }) => path[0]))
  const rest = Object.entries(value).filter(([key]) => !faulty.has(key))
  const files = typeof value.imports === 'string' ? { imports: [value.imports] } : {}
  return fitShape(schema, { ...missing, ...Object.fromEntries(rest), ...files }, []).value
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

/** The same value without one key in it; nothing given is changed. */
function without(value: unknown, [step, ...rest]: ValuePath): unknown {
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? without(item, rest) : item))
  const { [String(step)]: inner, ...others } = value as Record<string, unknown>
  return rest.length === 0 ? others : { ...others, [String(step)]: without(inner, rest) }
}

export type ShapeProblem = Found & { path: ValuePath }
type Issue = z.core.$ZodIssue

/** An issue of the schema's in words. */
function describeIssue(issue: Issue, value: unknown, known: readonly string[]): ShapeProblem[] {
  const path = issue.path as (string | number)[]
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.filter((key) => !key.startsWith('x-')).map((key) => unknownKey([...path, key], known))
  }
  const found = valueAt(value, path)
  const name = path.at(-1)
  if (found === undefined && typeof name === 'string') {
    const hint = `Add "${name}:" with ${wanted(issue)}.`
    return [{ path: path.slice(0, -1), message: `"${name}" is missing`, hint }]
  }
  if (issue.code === 'too_small' && issue.origin !== 'number') return [{ path, message: 'must not be empty' }]
  const kind = wanted(issue)
  return [{ path, message: `must be ${kind}, not ${show(found)}`, hint: hintFor(kind, found) }]
}

function hintFor(kind: string, found: unknown): string | undefined {
  if (kind === 'a number' && typeof found === 'string' && /^\d+$/.test(found))
    return 'Write it without quotes.'
  if (kind === 'a text' && (typeof found === 'number' || typeof found === 'boolean'))
    return 'Write it in quotes.'
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

/** A value as it is named in a message. */
export function show(value: unknown): string {
  if (value === null) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string'
    ? JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)
    : String(value)
}

export function valueAt(value: unknown, path: ValuePath): unknown {
  return path.reduce<unknown>(
    (at, key) => (at as Record<string | number, unknown> | undefined | null)?.[key],
    value,
  )
}

/** What a command without a shell may hold. */
const ENGINE_VARIABLES = ['AGENT_HOME', 'CWD']

/** Warns of what will reach the program of a command as it is written, though it looks like more. */
export function reportUnreplaced(
  command: readonly string[],
  { file, path, findings }: Spot,
  /** What to write for `${name}`. */
  adviceFor?: (name: string) => string,
): void {
  for (const { index, column, name, message, hint } of findUnreplaced(command, ENGINE_VARIABLES)) {
    const at = [...path, index]
    const advice = name === undefined ? undefined : adviceFor?.(name)
    findings.warn(file.locate(at, { column }), sentence(at, message), advice ?? hint)
  }
}
