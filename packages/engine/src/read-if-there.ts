import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** A pipe would keep whoever opens it waiting for ever, and every signal with them. */
const AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

/** A file's text; undefined when there is no such file. @throws What is no regular file: some devices have no end. */
export function readIfThere(path: string): string | undefined {
  try {
    return readRegular(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path}: Could not be read: ${(error as Error).message}`, { cause: error })
  }
}

function readRegular(path: string): string {
  const file = openSync(path, AT_ONCE)
  try {
    if (fstatSync(file).isFile()) return readFileSync(file, 'utf8')
    throw Object.assign(new Error('it is no file.'), { code: NO_FILE })
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
