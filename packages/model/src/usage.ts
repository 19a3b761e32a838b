import { ModelError } from './errors.js'

/**
 * For callers without a type checker: names a wrong argument at the entry, before it fails somewhere inside.
 *
 * @param what - The function and the argument or option.
 * @throws {ModelError} `ERR_MODEL_SETTINGS`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new ModelError('ERR_MODEL_SETTINGS', message)
}
