import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether all these programs are on the `PATH`. Where one is not, that is said on stderr, for a test that did not run
 * looks like one that passed.
 */
export function areInstalled(...programs: string[]): boolean {
  const missing = programs.filter((name) => !isInstalled(name))
  if (missing.length > 0)
    console.warn(`SKIPPED: ${missing.join(' and ')} cannot be found here, so what needs it is not tested.`)
  return missing.length === 0
}

function isInstalled(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((directory) => isExecutable(join(directory, name)))
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
