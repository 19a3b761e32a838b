import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from '@delta/durable'
import type { StoredEvent } from '../events/event.js'
import { asWriteError } from '../files/write-error.js'
import { type RepairedTail, repairTail } from './repair-tail.js'
import { scanJournal } from './scan.js'

/** A journal's file, open for appending, its end mended. */
export interface OpenedFile {
  descriptor: number
  lastSeq: number
  warnings: readonly string[]
  repaired: RepairedTail | undefined
}

/**
 * Opens a journal's file, reads it, and makes its end fit for appending. A missing one is created (0600).
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_WRITE`.
 */
export function openFile(
  path: string,
  { sync, onEvent }: { sync: boolean; onEvent: ((event: StoredEvent) => void) | undefined },
): OpenedFile {
  const descriptor = openForAppend(path, sync)
  try {
    const scan = scanJournal(descriptor, path, onEvent)
    const repaired = repairTail(descriptor, path, scan)
    return { descriptor, lastSeq: scan.lastSeq, warnings: scan.warnings, repaired }
  } catch (error) {
    closeSync(descriptor)
    const isOfSystem = Object(error).syscall !== undefined // any other one is ours already, or the listener's
    throw isOfSystem ? asWriteError(error, path) : error
  }
}

function openForAppend(path: string, sync: boolean): number {
  try {
    const descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600)
    const isNew = fstatSync(descriptor).size === 0
    if (isNew && sync) syncPath(dirname(path)) // its name must survive, too
    return descriptor
  } catch (error) {
    throw asWriteError(error, path)
  }
}
