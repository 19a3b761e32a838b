import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { recordName } from '@delta/journal'

/**
 * The path of a new record without its extension, which is also that of what lies beside it. A clock that was set back, or
 * stands still, repeats the names of an earlier engine.
 */
export function newRecordPath(
  directory: string,
  label: string,
  options: { labelFirst?: boolean } = {},
): string {
  for (;;) {
    const path = join(directory, recordName(new Date(), label, options))
    if (!existsSync(path) && !existsSync(`${path}.json`)) return path
  }
}
