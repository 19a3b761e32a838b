import { closeSync, constants, ftruncateSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createFile,
  openAtOnce,
  readIfThere,
  replaceFile as replaceDurably,
  syncName as syncNameDurably,
  type WriteOptions,
} from '@delta/durable'
import { asReadError, asWriteError } from './errors.js'

/** A line, or a file that is read whole, is never larger: text of twice the size is more than Node.js can hold. */
export const LARGEST_TEXT_BYTES = 256 * 1024 * 1024

/** The bytes from `position` on, fewer at the end of the file. */
export function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(file, bytes, filled, length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return bytes.subarray(0, filled)
}

/**
 * Undefined when there is no such file.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`.
 */
export function openToRead(path: string): number | undefined {
  try {
    return openAtOnce(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw asReadError(error, path)
  }
}

/** The text of a file. Empty when it is missing, too large, or not a file: a device may have no end. */
export function readText(path: string): string {
  try {
    return readIfThere(path, { mostBytes: LARGEST_TEXT_BYTES })?.toString('utf8') ?? ''
  } catch (error) {
    if (['EISDIR', 'ESPIPE', 'ENODEV', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return ''
    throw error
  }
}

const FIRST_READ_BYTES = 1 << 16

/**
 * Empty when there is no whole line, or it is too long. The rest, which may be large, is not read.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`.
 */
export function readFirstLine(path: string): string {
  const file = openToRead(path)
  if (file === undefined) return ''
  try {
    for (let length = FIRST_READ_BYTES; ; length *= 4) {
      const bytes = readAt(file, 0, length)
      const end = bytes.indexOf('\n') + 1
      if (end > 0 || bytes.length < length || length >= LARGEST_TEXT_BYTES)
        return bytes.toString('utf8', 0, end)
    }
  } catch (error) {
    throw asReadError(error, path)
  } finally {
    closeSync(file)
  }
}

/** Throws the system's error as `ERR_JOURNAL_WRITE`, with the file's name and what to do. */
export function writing<Result>(path: string, write: () => Result): Result {
  try {
    return write()
  } catch (error) {
    throw asWriteError(error, path)
  }
}

/** @throws {JournalError} `ERR_JOURNAL_WRITE`; the old content is still there. */
export function replaceFile(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  writing(path, () => replaceDurably(path, data, options))
}

/** @throws {JournalError} `ERR_JOURNAL_WRITE`: there is no such directory, or the disk failed. */
export function syncName(path: string): void {
  writing(path, () => syncNameDurably(path))
}

let lastMs = 0

/** The time, for a file's name: a millisecond later than the last one when it would repeat it. */
export function recordStamp(time: Date): string {
  lastMs = Math.max(time.getTime(), lastMs + 1)
  return new Date(lastMs).toISOString().replace(/[-:.Z]/g, '')
}

/**
 * A name for a record file: `20261120T093000123_<label>`, without an extension.
 *
 * No two calls of one process return the same name, even when the clock stands
 * still or goes backwards. Whatever the label holds, the name is one safe path
 * component: other characters than letters, digits, `_` and `-` become `-`.
 *
 * @param options.labelFirst - `<label>_20261120T093000123`: sorted by what they are of, then by time.
 */
export function recordName(
  time: Date,
  label: string,
  options: { labelFirst?: boolean | undefined } = {},
): string {
  const safeLabel = label.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 64) || 'unnamed'
  const parts = [recordStamp(time), safeLabel]
  return (options.labelFirst ? parts.reverse() : parts).join('_')
}

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
  writing(path, () => {
    const file = openSync(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0o600) // a pipe would be waited for
    try {
      writeFileSync(file, text)
      ftruncateSync(file, Buffer.byteLength(text))
    } finally {
      closeSync(file)
    }
  })
}
