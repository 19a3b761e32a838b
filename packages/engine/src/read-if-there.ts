import { readFileSync } from 'node:fs'

/** A file's text; undefined when there is no such file. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new Error(`${path}: Could not be read: ${(error as Error).message}`, { cause: error })
  }
}
