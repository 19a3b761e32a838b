import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** A pipe would keep whoever opens it waiting for ever, and every signal with them. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * A file's text; undefined when there is no such file.
 *
 * @throws What is no regular file: some devices have no end. And what is longer than `largestMiB`.
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
    if (!status.isFile()) throw Object.assign(new Error('it is no file.'), { code: NO_FILE })
    if (status.size > largestMiB * 2 ** 20) throw new Error(`it is longer than ${largestMiB} MiB`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

const NO_FILE = 'NO_FILE'

/** Why a file that is there could not be read, in words that follow its name. */
export function whyUnreadable(error: unknown): string {
  const { cause, message } = error as { cause?: NodeJS.ErrnoException; message: string }
  return cause?.code === NO_FILE || cause?.code === 'ENXIO'
    ? 'is no file'
    : `cannot be read: ${cause?.message ?? message}`
}
