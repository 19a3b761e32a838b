import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a directory and those above it that are missing; false if all of them were there. By hand, because node's own
 * `recursive` never ends where nothing can be made in a directory that exists, as in `/proc`.
 */
export function makeDirectories(path: string): boolean {
  if (isDirectory(path)) return false
  // a file above is in the way of this directory, not of itself: mkdir says so (ENOTDIR)
  if (!existsSync(dirname(path))) makeDirectories(dirname(path))
  try {
    mkdirSync(path)
    return true
  } catch (error) {
    if (isDirectory(path)) return false // another process was faster
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
