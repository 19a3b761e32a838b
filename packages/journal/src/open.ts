import { closeSync, constants, existsSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import { eventProblem, isEvent } from './check.js'
import { JournalError } from './errors.js'
import type { JournalEvent, NewEventOf, StoredEvent } from './event.js'
import { presenceCheck } from './presence.js'
import { type RepairedTail, repairTail } from './repair-tail.js'
import { syncPath } from './replace.js'
import { scanJournal } from './scan.js'
import { syncData, writeError, writeWhole } from './write.js'

export interface JournalOptions {
  /** False: `sync()` does nothing. For logs that may be lost with the power. */
  sync?: boolean
  /** Called before every append; throws when this writer has lost the right to write. */
  fence?: () => void
  /** Called by `sync()` before the journal itself is synced: syncs the files its events refer to. */
  syncFirst?: () => void
  /** Called with every event: those found on opening, in order, then each one appended. */
  onEvent?: (event: StoredEvent) => void
}

/** An open journal. One writer at a time: `openRun` sees to that for a run, the caller for any other log. */
export interface Journal<Event = JournalEvent> {
  readonly path: string
  /** Number of the last event; 0 when there is none. */
  readonly lastSeq: number
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
  append(...events: NewEventOf<Event>[]): StoredEvent[]
  /**
   * Makes everything appended survive a power cut. Costs nothing when nothing was appended.
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
  { sync = true, fence, syncFirst, onEvent }: JournalOptions = {},
): Journal<Event> {
  let descriptor: number | undefined = openForAppend(path, sync)
  const opened = prepare(descriptor, path, onEvent)
  let lastSeq = opened.lastSeq
  let dirty = false
  const presence = presenceCheck(path)

  function usable(): number {
    if (descriptor !== undefined) return descriptor
    throw new JournalError('ERR_JOURNAL_CLOSED', `${path}: The journal is closed; open it again to append.`, {
      path,
    })
  }

  function append(...events: NewEventOf<Event>[]): StoredEvent[] {
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
    writeWhole(file, Buffer.from(text), path)
    lastSeq += stored.length
    dirty = true
    if (onEvent) for (const event of stored) onEvent(event)
    return stored
  }

  function syncNow(): void {
    const file = usable()
    if (!dirty) return
    try {
      presence.check(file)
      if (sync) syncFirst?.()
      if (sync) syncData(file, path)
      dirty = false
    } catch (error) {
      shut() // nobody can say what is on disk now, so nothing may follow
      throw error
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
    ...(opened.repaired && { repaired: opened.repaired }),
    warnings: opened.warnings,
    append,
    sync: syncNow,
    close,
  }
}

function openForAppend(path: string, sync: boolean): number {
  try {
    const isNew = !existsSync(path)
    const descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600)
    if (isNew && sync) syncPath(dirname(path))
    return descriptor
  } catch (error) {
    throw writeError(error, path)
  }
}

function prepare(descriptor: number, path: string, onEvent?: (event: StoredEvent) => void) {
  try {
    const scan = scanJournal(descriptor, path, onEvent)
    return { lastSeq: scan.lastSeq, warnings: scan.warnings, repaired: repairTail(descriptor, path, scan) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** The position comes first in the line, and is ours whatever the event says. */
function stamp(event: { type: string }, seq: number, timestamp: string, path: string): StoredEvent {
  const stored = { seq, timestamp, ...event }
  stored.seq = seq
  stored.timestamp = timestamp
  if (isEvent(stored)) return stored
  throw refused(path, eventProblem(stored) ?? 'it is not an event')
}

function toLine(event: StoredEvent, path: string): string {
  try {
    return `${JSON.stringify(event)}\n`
  } catch (cause) {
    throw refused(path, `${event.type}: ${(cause as Error).message}`, cause)
  }
}

function refused(path: string, problem: string, cause?: unknown): JournalError {
  const message = `${path}: Refused to append an event: ${problem}.`
  return new JournalError('ERR_JOURNAL_EVENT', message, { path, cause })
}
