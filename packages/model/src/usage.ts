import { ModelError } from './errors.js'

/**
 * For callers without a type checker: what is wrong is said at the door, by its name, and not somewhere within.
 *
 * @param what - The function and the argument or option.
 * @throws {ModelError} `ERR_MODEL_SETTINGS`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new ModelError('ERR_MODEL_SETTINGS', message)
}
