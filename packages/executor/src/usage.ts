import { ExecutorError } from './errors.js'

/**
 * For callers without a type checker: what is wrong is said at the door, by its name, and not somewhere within.
 *
 * @param what - The function and the argument or option.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

export function checkText(what: string, value: unknown): asserts value is string {
  requireThat(typeof value === 'string', what, 'a text')
}

export function checkTexts(what: string, value: unknown): asserts value is string[] {
  requireThat(isTexts(value), what, 'a list of texts')
}

export function checkOptions(of: string, options: unknown): void {
  requireThat(isObject(options), `${of}: the argument options`, 'an object with options, or nothing')
}

export function checkFunction(what: string, value: unknown): void {
  requireThat(value === undefined || typeof value === 'function', what, 'a function, or nothing')
}

/** By its form: a signal may come from another realm. */
export function checkSignal(what: string, signal: unknown): void {
  const isSignal = typeof Object(signal).addEventListener === 'function'
  requireThat(signal === undefined || isSignal, what, 'an AbortSignal, or nothing')
}

export function checkTime(what: string, milliseconds: unknown): void {
  const isTime = typeof milliseconds === 'number' && milliseconds >= 0
  requireThat(milliseconds === undefined || isTime, what, 'milliseconds, 0 or more, or nothing')
}

export function checkPath(what: string, path: unknown): asserts path is string {
  requireThat(isText(path) && !path.includes('\0'), what, 'a path')
}
