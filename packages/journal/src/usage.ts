import { JournalError } from './errors.js'
import { isObject } from './is-object.js'

/**
 * For callers without a type checker: what is wrong is said at the door, by its name, and not somewhere within.
 *
 * @param what - The function and the argument or option.
 * @throws {JournalError} `ERR_JOURNAL_USAGE`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new JournalError('ERR_JOURNAL_USAGE', message, { path: '' })
}

/** For what would reach the file system: a name with a NUL byte is none. */
function isPath(value: unknown): value is string {
  return isText(value) && !value.includes('\0')
}

/** What stands where options belong: null is none, and would fail where they are first looked at. */
export function checkOptions(name: string, options: unknown): void {
  requireThat(isObject(options), `${name}: the argument options`, 'an object with options, or nothing')
}

export function checkPath(name: string, what: string, path: unknown): asserts path is string {
  requireThat(isPath(path), `${name}: ${what}`, 'a path')
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
