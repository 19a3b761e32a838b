import { ModelError } from './errors.js'

/** True for what JSON writes in braces. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True if any string in a JSON value, field names included, passes a test. */
export function someText(value: unknown, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each) => someText(each, test))
  return Object.entries(value).some(([name, each]) => test(name) || someText(each, test))
}

/** The same JSON value with each of its strings changed, field names included. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((each) => mapTexts(each, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [change(name), mapTexts(each, change)]),
  )
}

/** A JSON value, such as parsed arguments, with replacement characters in place of half characters (lone surrogates). */
export function withoutHalves<T>(value: T): T {
  if (!someText(value, (text) => !text.isWellFormed())) return value
  return mapTexts(value, (text) => text.toWellFormed()) as T
}

const DEEPEST = 200

/**
 * Refuses an answer nested so deeply that serialising it would overflow the stack. `JSON.parse` reads any depth,
 * `JSON.stringify` does not, and every answer is recorded.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`.
 */
export function checkDepth(answer: unknown): void {
  if (!isDeeper(answer, DEEPEST)) return
  const text = `The answer is not a chat completion: it is nested more than ${DEEPEST} levels deep.`
  throw new ModelError('ERR_MODEL_RESPONSE', text, { retryable: true })
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
