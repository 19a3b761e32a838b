import { ModelError } from './errors.js'

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
