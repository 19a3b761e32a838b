import { realpathSync } from 'node:fs'

/** The absolute path without symbolic links, or undefined if nothing can be found there. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path)
  } catch {
    return undefined // missing, a circle of links, not to be entered, no path at all: `readText` says which
  }
}
