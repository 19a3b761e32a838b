import { accessSync, constants, statSync } from 'node:fs'

/** False for whatever else is there or not, a path that is too long for one included: no advice is given on any of it. */
export function isReadableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
