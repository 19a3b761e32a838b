import { closeSync, fdatasyncSync, fstatSync, readFileSync, readSync } from 'node:fs'
import {
  appendWhole,
  openAtOnce,
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

/** The whole file; of what else is in its place nothing: some devices have no end. Nor of a file that is too large. */
export function readTextAtOnce(path: string): string {
  let file: number | undefined
  try {
    file = openAtOnce(path)
    return fstatSync(file).size > LARGEST_TEXT_BYTES ? '' : readFileSync(file, 'utf8')
  } catch (error) {
    if (['EISDIR', 'ESPIPE', 'ENODEV'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  } finally {
    if (file !== undefined) closeSync(file)
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
function inWords<Result>(path: string, write: () => Result): Result {
  try {
    return write()
  } catch (error) {
    throw asWriteError(error, path)
  }
}

/**
 * Appends all bytes or none.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`, its `cause` the system's error.
 */
export function writeWhole(descriptor: number, bytes: Uint8Array, path: string): void {
  inWords(path, () => appendWhole(descriptor, bytes))
}

/** @throws {JournalError} `ERR_JOURNAL_WRITE`; the old content is still there. */
export function replaceFile(path: string, data: string | Uint8Array, options: WriteOptions = {}): void {
  inWords(path, () => replaceDurably(path, data, options))
}

/** @throws {JournalError} `ERR_JOURNAL_WRITE`: there is no such directory, or the disk failed. */
export function syncName(path: string): void {
  inWords(path, () => syncNameDurably(path))
}

/**
 * @throws {JournalError} `ERR_JOURNAL_WRITE`. What was written since the last sync may or may
 * not be on disk, and a second try would not tell: the caller must write no more.
 */
export function syncData(descriptor: number, path: string): void {
  inWords(path, () => fdatasyncSync(descriptor))
}

let lastMs = 0

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

/** The time alone, a millisecond later than the last one when it would repeat it. */
export function recordStamp(time: Date): string {
  lastMs = Math.max(time.getTime(), lastMs + 1)
  return new Date(lastMs).toISOString().replace(/[-:.Z]/g, '')
}
