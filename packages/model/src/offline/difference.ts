import { isObject } from '../is-object.js'

export interface Difference {
  /** Where: `messages[2].content`. */
  readonly path: string
  /** Both values there, cut to the part that differs. */
  readonly left: string
  readonly right: string
}

/** The first place where two JSON values differ; undefined when they are equal. The order of keys does not count. */
export function firstDifference(left: unknown, right: unknown, path = ''): Difference | undefined {
  if (Object.is(left, right)) return undefined
  if (Array.isArray(left) && Array.isArray(right)) {
    const places = Array.from({ length: Math.max(left.length, right.length) }, (_, index) => index)
    return firstOf(places, (index) => firstDifference(left[index], right[index], `${path}[${index}]`))
  }
  if (isObject(left) && isObject(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return firstOf(keys, (key) =>
      firstDifference(left[key], right[key], path === '' ? key : `${path}.${key}`),
    )
  }
  return { path, ...excerpts(left, right) }
}

function firstOf<Place>(places: readonly Place[], compare: (place: Place) => Difference | undefined) {
  for (const place of places) {
    const difference = compare(place)
    if (difference) return difference
  }
  return undefined
}

const BEFORE = 20
const LENGTH = 80

function excerpts(left: unknown, right: unknown): { left: string; right: string } {
  if (typeof left !== 'string' || typeof right !== 'string') return { left: show(left), right: show(right) }
  const end = Math.min(left.length, right.length)
  let at = 0
  while (at < end && left[at] === right[at]) at++
  return { left: cut(left, at), right: cut(right, at) }
}

function cut(text: string, at: number): string {
  const start = Math.max(0, at - BEFORE)
  const part = JSON.stringify(text.slice(start, start + LENGTH))
  return `${start > 0 ? '…' : ''}${part}${start + LENGTH < text.length ? '…' : ''}`
}

function show(value: unknown): string {
  if (value === undefined) return '(nothing)'
  const text = JSON.stringify(value)
  return text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
}
