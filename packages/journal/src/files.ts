import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import {
  readIfThere,
  replaceFile as replaceDurably,
  syncName as syncNameDurably,
  type WriteOptions,
} from '@delta/durable'
import { openAtOnce } from '@delta/durable/internal'
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

const HASHED_AT_ONCE_BYTES = 1 << 20

/** Returns the SHA-256, in hexadecimal, of the first bytes of a file: up to one offset, then up to later ones. Each byte is read once. */
export function hashingFile(file: number): (endOffset: number) => string {
  const hash = createHash('sha256')
  let at = 0
  return (endOffset) => {
    while (at < endOffset) {
      const chunk = readAt(file, at, Math.min(HASHED_AT_ONCE_BYTES, endOffset - at))
      if (chunk.length === 0) break
      hash.update(chunk)
      at += chunk.length
    }
    return hash.copy().digest('hex')
  }
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
