import { readdirSync } from 'node:fs'

/** What lies in a directory, in no order; nothing in one that is not there. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
