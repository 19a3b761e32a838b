import { fdatasyncSync, fstatSync, ftruncateSync, writeSync } from 'node:fs'
import { asWriteError } from './write-error.js'

/**
 * Appends all bytes or none: after a write that stopped half-way the file is cut back.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`, its `cause` the system's error.
 */
export function writeWhole(descriptor: number, bytes: Uint8Array, path: string): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(descriptor, bytes, written)
  } catch (error) {
    if (written > 0) ftruncateSync(descriptor, fstatSync(descriptor).size - written)
    throw asWriteError(error, path)
  }
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
  try {
    fdatasyncSync(descriptor)
  } catch (error) {
    throw asWriteError(error, path)
  }
}
