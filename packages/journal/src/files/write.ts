import { fdatasyncSync, writeSync } from 'node:fs'
import {
  appendWhole,
  replaceFile as replaceDurably,
  syncName as syncNameDurably,
  type WriteOptions,
} from '@delta/durable'
import { asWriteError } from './write-error.js'

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

/** Writes all bytes over those from `position` on. */
export function writeAt(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, position + written)
}

/**
 * @throws {JournalError} `ERR_JOURNAL_WRITE`. What was written since the last sync may or may
 * not be on disk, and a second try would not tell: the caller must write no more.
 */
export function syncData(descriptor: number, path: string): void {
  inWords(path, () => fdatasyncSync(descriptor))
}
