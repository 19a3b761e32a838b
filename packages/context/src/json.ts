import { hash } from 'node:crypto'

/** A value as JSON. */
export interface JsonText {
  readonly json: string
  /** Size of the JSON in UTF-8. */
  readonly bytes: number
  /** SHA-256 of the JSON, in hexadecimal. */
  readonly sha256: string
}

const kept = new WeakMap<object, JsonText>()

/**
 * The JSON of a message, or of the definitions of tools, made once in the life of the object and kept beside it. Only for what
 * nobody changes afterwards: a changed message is another object.
 */
export function keepJson(value: object): JsonText {
  const known = kept.get(value)
  if (known !== undefined) return known
  const made = describe(value)
  kept.set(value, made)
  return made
}

/** The JSON that is kept for a value; for one of somebody else, made now. */
export function jsonOf(value: unknown): JsonText {
  return (typeof value === 'object' && value !== null && kept.get(value)) || describe(value)
}

function describe(value: unknown): JsonText {
  const json = JSON.stringify(value) ?? 'null' // as JSON spells it in a list
  return { json, bytes: Buffer.byteLength(json), sha256: hash('sha256', json) }
}
