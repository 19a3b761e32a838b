import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing. By hand, because node's own `recursive` never ends where nothing
 * can be made in a directory that exists, as in `/proc`.
 *
 * @returns Those it made, the outermost first; none if all of them were there.
 */
export function makeDirectories(path: string): string[] {
  if (isDirectory(path)) return []
  // a file above is in the way of this directory, not of itself: mkdir says so (ENOTDIR)
  const above = existsSync(dirname(path)) ? [] : makeDirectories(dirname(path))
  try {
    mkdirSync(path)
    return [...above, path]
  } catch (error) {
    if (isDirectory(path)) return above // another process was faster
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
