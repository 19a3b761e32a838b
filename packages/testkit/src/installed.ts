import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'

/**
 * Whether all these programs are on the `PATH`. Where one is not, that is said on stderr, for a test that did not run
 * looks like one that passed.
 *
 * @throws {Error} One is missing, and `DELTA_REQUIRE` (names, separated by commas) says that it must be there.
 */
export function areInstalled(...programs: string[]): boolean {
  return programs.map((name) => isPartThere(name, isInstalled(name))).every(Boolean)
}

/**
 * The same for anything else that a machine may lack, such as a sandbox that works.
 *
 * @throws {Error} It is missing, and `DELTA_REQUIRE` says that it must be there.
 */
export function isPartThere(part: string, isThere: boolean, why = 'it cannot be found here'): boolean {
  if (isThere) return true
  if ((process.env.DELTA_REQUIRE ?? '').split(',').includes(part))
    throw new Error(`${part} is required here (DELTA_REQUIRE): ${why}.`)
  console.warn(`SKIPPED: what needs ${part} is not tested: ${why}.`)
  return false
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
