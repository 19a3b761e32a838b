import { closeSync, fstatSync } from 'node:fs'
import { JournalError } from '../errors.js'
import type { JournalEvent, NewEventOf, StoredEvent } from '../events/event.js'
import { presenceCheck } from '../files/presence.js'
import { syncData, writeWhole } from '../files/write.js'
import { asWriteError } from '../files/write-error.js'
import { openFile } from './open-file.js'
import type { RepairedTail } from './repair-tail.js'
import { stamp, toLine } from './stamp.js'

/** How safely a journal is written, and who hears of it. */
export interface JournalOptions {
  /** False: `sync()` does nothing. For logs that may be lost with the power. */
  sync?: boolean | undefined
  /** Called before every append; throws when this writer has lost the right to write. */
  fence?: (() => void) | undefined
  /** Called by `sync()` before the journal itself is synced: syncs the files its events refer to. */
  syncFirst?: (() => void) | undefined
  /** Called with every event: those found on opening, in order, then each one appended. What it throws is thrown on. */
  onEvent?: ((event: StoredEvent) => void) | undefined
}

/** An open journal. One writer at a time: `openRun` sees to that for a run, the caller for any other log. */
export interface Journal<Event = JournalEvent> {
  /** As it was given to `openJournal`. */
  readonly path: string
  /** Number of the last event; 0 when there is none. */
  readonly lastSeq: number
  /** Bytes of the file that this writer knows of: what it found and what it appended. Somebody else may have changed it since. */
  readonly size: number
  /** Set when opening found a torn tail. */
  readonly repaired?: RepairedTail
  /** Missing or repeated numbers found on opening, in words. */
  readonly warnings: readonly string[]
  /**
   * Writes all events given in one write, numbered and dated; returns them as written.
   * Safe against `kill -9` when it returns, against a power cut after `sync()`.
   *
   * @throws {JournalError} `ERR_JOURNAL_EVENT` (a reader would refuse it; nothing was written),
   *   `ERR_JOURNAL_WRITE` (disk full and the like; none of these events is in the journal),
   *   `ERR_JOURNAL_CLOSED`, or what `fence` throws.
   */
  append(...events: NewEventOf<Event>[]): Event[]
  /**
   * Makes everything in the journal survive a power cut: what was appended, and what opening found. Costs nothing when
   * nothing was added since the last time.
   *
   * @throws {JournalError} `ERR_JOURNAL_WRITE`; the journal then takes no more events.
   */
  sync(): void
  /** Syncs and closes. A second call does nothing. */
  close(): void
}

/**
 * Opens a journal for appending; a missing file is created (0600).
 *
 * Reads it once: a torn tail is cut off and kept beside it, a last event without
 * its newline is completed, and the numbers go on from the highest.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: damage no crash makes; the file is left
 *   as it was. `ERR_JOURNAL_WRITE`: it cannot be opened for writing.
 */
export function openJournal<Event extends { type: string } = JournalEvent>(
  path: string,
  options: JournalOptions = {},
): Journal<Event> {
  const { sync = true, fence, syncFirst, onEvent } = options
  const opened = openFile(path, { sync, onEvent })
  let descriptor: number | undefined = opened.descriptor
  let lastSeq = opened.lastSeq
  let bytes = fstatSync(opened.descriptor).size
  let dirty = bytes > 0 // whoever wrote it may have been killed before it synced
  const presence = presenceCheck(path)

  function usable(): number {
    if (descriptor !== undefined) return descriptor
    throw new JournalError('ERR_JOURNAL_CLOSED', `${path}: The journal is closed; open it again to append.`, {
      path,
    })
  }

  function append(...events: NewEventOf<Event>[]): Event[] {
    const file = usable()
    fence?.()
    const timestamp = new Date().toISOString()
    const stored: StoredEvent[] = []
    let text = ''
    for (const event of events) {
      const next = stamp(event, lastSeq + stored.length + 1, timestamp, path)
      stored.push(next)
      text += toLine(next, path)
    }
    const lines = Buffer.from(text)
    writeWhole(file, lines, path)
    bytes += lines.length
    lastSeq += stored.length
    dirty = true
    if (onEvent) for (const event of stored) onEvent(event)
    return stored as unknown as Event[] // with the fields that were stamped it is one
  }

  function syncNow(): void {
    const file = usable()
    if (!dirty) return
    try {
      presence.check(file, bytes)
      if (sync) syncFirst?.()
      if (sync) syncData(file, path)
      dirty = false
    } catch (error) {
      shut() // nobody can say what is on disk now, so nothing may follow
      throw asWriteError(error, path)
    }
  }

  function shut(): void {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }

  function close(): void {
    if (descriptor === undefined) return
    syncNow()
    shut()
  }

  return {
    path,
    get lastSeq() {
      return lastSeq
    },
    get size() {
      return bytes
    },
    ...(opened.repaired && { repaired: opened.repaired }),
    warnings: opened.warnings,
    append,
    sync: syncNow,
    close,
  }
}
