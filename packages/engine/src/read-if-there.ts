import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Opening a pipe would otherwise block for ever, and signals with it. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * A file's text; undefined when there is no such file.
 *
 * @throws {Error} It is not a regular file (some devices have no end), or is larger than `largestMiB`.
 */
export function readIfThere(path: string, largestMiB = Number.POSITIVE_INFINITY): string | undefined {
  try {
    return readRegular(path, largestMiB)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path}: Could not be read: ${(error as Error).message}`, { cause: error })
  }
}

function readRegular(path: string, largestMiB: number): string {
  const file = openSync(path, AT_ONCE)
  try {
    const status = fstatSync(file)
    if (!status.isFile()) throw Object.assign(new Error('it is not a regular file.'), { code: NO_FILE })
    if (status.size > largestMiB * 2 ** 20) throw new Error(`it is longer than ${largestMiB} MiB`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const NO_FILE = 'NO_FILE'

/** Why an existing file could not be read, as a predicate to follow its name. */
export function whyUnreadable(error: unknown): string {
  const { cause, message } = error as { cause?: NodeJS.ErrnoException; message: string }
  return cause?.code === NO_FILE || cause?.code === 'ENXIO'
    ? 'is not a regular file'
    : `cannot be read: ${cause?.message ?? message}`
}
