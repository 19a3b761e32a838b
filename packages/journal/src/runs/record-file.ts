import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createFile } from '@delta/durable'
import { asWriteError } from '../errors.js'
import { recordName } from '../files.js'

/**
 * Creates a JSON file (0600) with a text in it, under a new name: see `recordName`. A clock that was set back repeats names of
 * an earlier process; then the next millisecond is free. Not synced.
 *
 * @returns Its path.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
export function createRecordFile(directory: string, label: string, text: string): string {
  for (;;) {
    const path = join(directory, `${recordName(new Date(), label)}.json`)
    try {
      createFile(path, text, { sync: false })
      return path
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') continue
      rmSync(path, { force: true }) // half a record would hide an earlier one of the same iteration
      throw asWriteError(error, path)
    }
  }
}
