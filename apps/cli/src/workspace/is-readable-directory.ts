import { accessSync, constants, statSync } from 'node:fs'

/** False for everything else, also for a path that is too long: no advice is given about any of it. */
export function isReadableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
