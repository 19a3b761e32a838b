import { closeSync, constants, ftruncateSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createFile } from '@delta/durable'
import { asWriteError } from './errors.js'
import { recordName } from './files.js'

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

const { O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Writes a text over what a record holds, in its place: the room it takes is there on a full disk, too. A crash in the middle
 * leaves half of it, so the event that makes the record count comes afterwards.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
export function overwriteRecord(path: string, text: string): void {
  try {
    const file = openSync(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0o600) // a pipe would be waited for
    try {
      writeFileSync(file, text)
      ftruncateSync(file, Buffer.byteLength(text))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    throw asWriteError(error, path)
  }
}
