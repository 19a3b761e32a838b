import { EngineError } from '../errors.js'

/**
 * For callers without a type checker: names a wrong argument at the entry, before it fails somewhere inside.
 *
 * @param what - The function and the argument or option.
 * @throws {EngineError} `ERR_ENGINE_USAGE`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new EngineError('ERR_ENGINE_USAGE', message)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
