import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { asWriteError } from './write-error.js'

/**
 * Replaces a whole file: written beside, then renamed into place.
 *
 * A reader, and a crash at any instant, sees the old content or the new, never
 * half of either. After a power cut too, unless `durable` is false.
 *
 * @param options.mode - Permissions of the new file; 0600 unless told.
 * @param options.durable - Sync the file and its directory; false for what can be rebuilt.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`; the old content is still there.
 */
export function replaceFile(
  path: string,
  data: string | Uint8Array,
  options: { mode?: number | undefined; durable?: boolean | undefined } = {},
): void {
  const { mode = 0o600, durable = true } = options
  const beside = `${path}.${randomBytes(4).toString('hex')}.tmp`
  try {
    writeNew(beside, data, { mode, durable })
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true })
    throw asWriteError(error, path)
  }
  if (durable) syncPath(dirname(path))
}

/** Makes a file's bytes, or a directory's entries, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes it survive a power cut that a name is there, or gone, by syncing the directory that holds it. A directory that may be
 * written but not read cannot be opened for that: it is left to the system.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`: there is no such directory, or the disk failed.
 */
export function syncName(path: string): void {
  try {
    syncPath(dirname(path))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw asWriteError(error, path)
  }
}

/** Creates a file that must not exist yet. */
export function writeNew(
  path: string,
  data: string | Uint8Array,
  { mode, durable }: { mode: number; durable: boolean },
): void {
  const descriptor = openSync(path, 'wx', mode)
  try {
    writeFileSync(descriptor, data)
    if (durable) fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
