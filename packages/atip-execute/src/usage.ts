import { AtipExecuteError } from './base-error.js'

/**
 * For callers without a type checker: what is wrong is said at the door, by its name, and not somewhere within.
 *
 * @param what - The function and the argument or option.
 * @throws {AtipExecuteError} `INVALID_CONFIG`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new AtipExecuteError(message, 'INVALID_CONFIG')
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
