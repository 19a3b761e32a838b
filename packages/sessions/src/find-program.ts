import { accessSync, constants, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * Where a program is, as an absolute path. It is looked up once, when a session starts: a command may
 * change PATH as it likes, and the session still finds its shell.
 *
 * @returns undefined when there is none.
 */
export function findProgram(name: string, path: string, workDirectory: string): string | undefined {
  const candidates = name.includes('/')
    ? [resolve(workDirectory, name)]
    : path.split(':').map((directory) => join(directory || '.', name))
  return candidates.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // whatever keeps it from being run, the next directory may have one
  }
}
