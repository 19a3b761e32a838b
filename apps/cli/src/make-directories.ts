import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Creates a directory and its missing parents. By hand, because Node.js's own `recursive` never returns where nothing can be
 * created in an existing directory, as in `/proc`.
 *
 * @returns Those it created, the outermost first; none if all existed.
 */
export function makeDirectories(path: string, mode = 0o777): string[] {
  if (isDirectory(path)) return []
  // if a file is among the parents, the mkdir below reports it (ENOTDIR)
  const above = existsSync(dirname(path)) ? [] : makeDirectories(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
    return [...above, path]
  } catch (error) {
    if (isDirectory(path)) return above // another process was faster
    throw error
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
