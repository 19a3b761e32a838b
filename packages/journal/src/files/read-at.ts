import { closeSync, fstatSync, readFileSync, readSync } from 'node:fs'
import { openAtOnce } from '@delta/durable'
import { asReadError } from './read-error.js'

/** A line, or a file that is read whole, is never larger: text of twice the size is more than Node.js can hold. */
export const LARGEST_TEXT_BYTES = 256 * 1024 * 1024

/** Fills as much of a buffer as the file has behind `position`. @returns How many bytes. */
function readInto(file: number, buffer: Buffer, position: number): number {
  let filled = 0
  while (filled < buffer.length) {
    const count = readSync(file, buffer, filled, buffer.length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The bytes from `position` on, fewer at the end of the file. */
export function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readInto(file, bytes, position))
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

/** Undefined when there is no such file. */
export function openIfThere(path: string): number | undefined {
  try {
    return openAtOnce(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The same with an error that says what to do.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`.
 */
export function openToRead(path: string): number | undefined {
  try {
    return openIfThere(path)
  } catch (error) {
    throw asReadError(error, path)
  }
}

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

const FIRST_READ_BYTES = 1 << 16
