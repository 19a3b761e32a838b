import { isObject } from '../is-object.js'

/** A line as it was parsed: an object with a `type`, in whatever format. */
export type RawLine = Record<string, unknown> & { type: string }

export function isRawLine(value: unknown): value is RawLine {
  return isObject(value) && typeof value.type === 'string'
}
