import { nearestNames, type Problem } from '@delta/executor'
import type * as z from 'zod/mini'
import { KEYS } from './schema.js'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

/** What does not fit, in words for the person who wrote the file. */
export function describeIssue(issue: Issue, input: unknown): Problem[] {
  if (issue.code === 'unrecognized_keys') {
    const keys = issue.keys.filter((key) => !key.startsWith('x-'))
    return keys.map((key) => unknownKey(key, issue.path, input))
  }
  const found = valueAt(input, issue.path)
  const path = formatPath(issue.path)
  const name = issue.path.at(-1)
  const where = place(issue.path, input)

  if (found === undefined && typeof name === 'string') {
    const hint = `Add "${name}:" with ${wanted(issue)}.`
    const message = name === 'text' ? 'type text needs text' : `"${name}" is missing`
    return [{ path: formatPath(issue.path.slice(0, -1)), message: `${message}${where}`, hint }]
  }
  if (issue.code === 'too_small' && issue.origin !== 'number')
    return [{ path, message: `must not be empty${where}` }]
  return [{ path, message: `must be ${wanted(issue)}, not ${show(found)}${where}`, ...meant(issue, found) }]
}

/** The same value without the keys of one `unrecognized_keys` issue; nothing given is changed. */
export function withoutUnknownKeys(input: unknown, issue: Issue): unknown {
  return issue.code === 'unrecognized_keys' ? omit(input, issue.path, issue.keys) : input
}

function omit(value: unknown, [step, ...rest]: Path, keys: readonly string[]): unknown {
  if (step === undefined) {
    return Object.fromEntries(Object.entries(value as object).filter(([key]) => !keys.includes(key)))
  }
  if (Array.isArray(value))
    return value.map((item, index) => (index === step ? omit(item, rest, keys) : item))
  const map = value as Record<PropertyKey, unknown>
  return { ...map, [step]: omit(map[step], rest, keys) }
}

function unknownKey(key: string, path: Path, input: unknown): Problem {
  if (key === 'role' && valueAt(input, [...path, 'type']) === 'journal') {
    const message = `a journal has roles of its own${place(path, input)}`
    return { path: formatPath([...path, key]), message, hint: 'Remove role.' }
  }
  const known = knownKeys(path, input)
  const [nearest] = nearestNames(key, known)
  const hint = nearest === undefined ? `Known here: ${known.join(', ')}.` : `Did you mean "${nearest}"?`
  const message = `unknown key "${key}"${place(path, input)}`
  return { path: formatPath([...path, key]), message, hint, unknownKey: true }
}

function knownKeys(path: Path, input: unknown): readonly string[] {
  const name = path.at(-1)
  if (typeof name === 'string') return KEYS[name] ?? []
  const type = typeof name === 'number' ? (valueAt(input, [...path, 'type']) as string) : ''
  return KEYS[type] ?? []
}

/** Sources are told apart by their id, which people know, rather than by their number. */
function place([root, index]: Path, input: unknown): string {
  if (root !== 'sources' || index === undefined) return ''
  const id = valueAt(input, [root, index, 'id'])
  return typeof id === 'string' ? ` in the source "${id}"` : ''
}

const KINDS: Record<string, string> = {
  string: 'a text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys and values',
}

/** What a schema says less well. */
const WANTED: Record<string, string> = {
  role: 'system, developer or user',
  header: 'true, false or a text with ${id}',
  dropped: 'true, false or a text with ${count}',
}

function wanted(issue: Issue): string {
  const known = WANTED[String(issue.path.at(-1))]
  if (known !== undefined) return known
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? issue.expected
  if (issue.code === 'invalid_value') return oneOf(issue.values.map(String))
  if (issue.code === 'invalid_union') return oneOf('options' in issue ? (issue.options as string[]) : [])
  if (issue.code === 'too_small') return `at least ${issue.minimum}`
  return issue.message
}

function oneOf(names: readonly string[]): string {
  return names.length === 1 ? String(names[0]) : `one of ${names.join(', ')}`
}

function meant(issue: Issue, found: unknown): { hint?: string } {
  if (typeof found !== 'string') return {}
  if (issue.path.at(-1) === 'command')
    return { hint: 'One element for each word: ["python3", "${AGENT_HOME}/summarize.py"].' }
  if (['generator', 'token_counter'].includes(String(issue.path.at(-1))))
    return { hint: 'Write: { command: ["python3", "${AGENT_HOME}/summarize.py"] }' }
  const options = issue.code === 'invalid_union' && 'options' in issue ? (issue.options as string[]) : []
  const [nearest] = nearestNames(found, issue.code === 'invalid_value' ? issue.values.map(String) : options)
  return nearest === undefined ? {} : { hint: `Did you mean "${nearest}"?` }
}

function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  return typeof value === 'object' ? 'a map' : typeof value === 'bigint' ? `${value}` : JSON.stringify(value)
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key],
    value,
  )
}

function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}
