import { realpathSync } from 'node:fs'
import { join, sep } from 'node:path'

/**
 * The path of a file that a journal names, without links. Undefined if it is not there, leads out of the run, or lies in `secrets/`:
 * another program may have written the journal.
 */
export function pathInRun(runDirectory: string, ref: string): string | undefined {
  try {
    const directory = realpathSync(runDirectory)
    const path = realpathSync(join(directory, ref))
    const isInside = path.startsWith(directory + sep)
    return isInside && !path.startsWith(join(directory, 'secrets') + sep) ? path : undefined
  } catch {
    return undefined
  }
}
