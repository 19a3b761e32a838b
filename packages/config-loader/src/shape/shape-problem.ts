import { nearestNames } from '@delta/executor'
import type * as z from 'zod/mini'
import { isMap } from '../is-map.js'
import type { ValuePath } from '../path.js'

/** Something that does not fit a schema, in words for the person who wrote the value. */
export interface ShapeProblem {
  path: ValuePath
  message: string
  hint?: string
  /** True for a key that no schema knows; the value is usable without it. */
  unknownKey?: true
}

export type Issue = z.core.$ZodIssue

/** An issue of the schema's in words. */
export function describeIssue(issue: Issue, value: unknown, known: readonly string[]): ShapeProblem[] {
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

export function show(value: unknown): string {
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
