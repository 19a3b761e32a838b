import {
  closeSync,
  constants,
  existsSync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { appendWhole, type Lock, syncPath } from '@delta/durable'
import { asWriteError, JournalError } from './errors.js'
import {
  type AnyEvent,
  type EventSchema,
  type NewEventOf,
  type Position,
  problemOf,
  type Stored,
} from './event.js'
import { hashingFile, writing } from './files.js'
import { isTooLong, parseJson, type Remainder, TOO_LONG } from './lines.js'
import { scanJournal } from './read.js'
import { recordStamp } from './records.js'

/** The schema of a journal, how safely it is written, and callbacks. */
export interface JournalOptions<Event> {
  /** What its events look like. Without one, an event is any object with a `type`. */
  schema?: EventSchema<Event> | undefined
  /**
   * Keeps others from writing: a lock of `@delta/durable`, taken for this journal. Appending throws once it is lost, and `close`
   * releases it. Without one, the caller must make sure that there is one writer.
   */
  lock?: Lock | undefined
  /** False: `sync()` does nothing. For logs that may be lost with the power. */
  sync?: boolean | undefined
  /** Called before every append; throws when nothing may be written any more. */
  fence?: (() => void) | undefined
  /** Called by `sync()` before the journal itself is synced: syncs the files its events refer to. */
  syncFirst?: (() => void) | undefined
  /** Called with every event: those found on opening, in order, then each one appended. What it throws is thrown on. */
  onEvent?: ((event: Stored<Event>) => void) | undefined
}

/** What `openJournal` took off the end of a journal, and where the bytes are kept. */
export interface RepairedTail {
  tornBytes: number
  /** Path of a file beside the journal. */
  keptIn: string
}

/** An open journal. */
export interface Journal<Event = AnyEvent> {
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
   *   `ERR_JOURNAL_CLOSED`, `ERR_JOURNAL_LOST` (the lock), or what `fence` throws.
   */
  append(...events: NewEventOf<Event>[]): Stored<Event>[]
  /**
   * Makes everything in the journal survive a power cut: what was appended, and what opening found. Costs nothing when
   * nothing was added since the last time.
   *
   * @throws {JournalError} `ERR_JOURNAL_WRITE`; the journal then takes no more events.
   */
  sync(): void
  /**
   * The SHA-256, in hexadecimal, of all lines so far as the file holds them now, newlines included. Reads those that were added
   * since it was called last.
   *
   * @throws {JournalError} `ERR_JOURNAL_CLOSED`, `ERR_JOURNAL_WRITE`: the file cannot be read.
   */
  sha256(): string
  /** Syncs, closes, and releases the lock. A second call does nothing. */
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
 * @example
 * const orders = openJournal('orders.jsonl')
 * orders.append({ type: 'ORDERED', cup: 'espresso' })
 * orders.close()
 */
export function openJournal<Event extends { type: string } = AnyEvent>(
  path: string,
  options: JournalOptions<Event> = {},
): Journal<Event> {
  const { schema, lock, sync = true, fence, syncFirst, onEvent } = options
  const opened = openFile(path, { schema, sync, onEvent })
  let descriptor: number | undefined = opened.descriptor
  let lastSeq = opened.lastSeq
  let bytes = fstatSync(opened.descriptor).size
  const hashUpTo = hashingFile(opened.descriptor)
  let dirty = bytes > 0 // its last writer may have been killed before it synced

  function usable(): number {
    if (descriptor !== undefined) return descriptor
    throw new JournalError('ERR_JOURNAL_CLOSED', `${path}: The journal is closed; open it again to append.`, {
      path,
    })
  }

  function append(...events: NewEventOf<Event>[]): Stored<Event>[] {
    const file = usable()
    fence?.()
    if (lock?.lost() !== undefined) throw lostLock(path)
    const timestamp = new Date().toISOString()
    const stored: Stored<Event>[] = []
    let text = ''
    for (const event of events) {
      const line = toLine({ seq: lastSeq + stored.length + 1, timestamp }, event, path)
      stored.push(readBack(line, path, schema))
      text += `${line}\n`
    }
    const lines = Buffer.from(text)
    writing(path, () => appendWhole(file, lines))
    bytes += lines.length
    lastSeq += stored.length
    dirty = true
    if (onEvent) for (const event of stored) onEvent(event)
    return stored
  }

  function syncNow(): void {
    const file = usable()
    if (!dirty) return
    try {
      refuseIfGone(file, path, bytes)
      if (sync) syncFirst?.()
      if (sync) fdatasyncSync(file)
      dirty = false
    } catch (error) {
      shut() // what is on disk is unknown now, so nothing may follow
      throw asWriteError(error, path)
    }
  }

  function sha256(): string {
    const file = usable()
    return writing(path, () => hashUpTo(fstatSync(file).size))
  }

  function shut(): void {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }

  function close(): void {
    try {
      if (descriptor !== undefined) syncNow()
    } finally {
      shut()
      lock?.release()
    }
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
    sha256,
    close,
  }
}

/** The line of an event, without its newline. The position comes first, and is ours whatever the event says. */
export function toLine(position: Position, event: object, path: string): string {
  try {
    return JSON.stringify({ ...position, ...event, ...position }) ?? 'undefined'
  } catch (cause) {
    throw refused(path, `${(event as AnyEvent).type}: ${(cause as Error).message}`, cause)
  }
}

/** The event as a reader will find it: JSON turns a date into a string, and leaves out undefined fields. */
function readBack<Event>(line: string, path: string, schema: EventSchema<Event> | undefined): Stored<Event> {
  const value = parseJson(line)
  const problem = isTooLong(Buffer.byteLength(line)) ? TOO_LONG : problemOf(value, schema)
  if (problem !== undefined) throw refused(path, problem)
  return value as Stored<Event>
}

function refused(path: string, problem: string, cause?: unknown): JournalError {
  const message = `${path}: Refused to append an event: ${problem}.`
  return new JournalError('ERR_JOURNAL_EVENT', message, { path, cause })
}

function lostLock(path: string): JournalError {
  const message = `${path}: The lock of this journal was taken by another process, or deleted. Nothing more was written here.`
  return new JournalError('ERR_JOURNAL_LOST', message, { path })
}

type Opening<Event> = Required<Pick<JournalOptions<Event>, 'schema' | 'sync' | 'onEvent'>>

/** Opens a journal's file, reads it, and makes its end fit for appending. */
function openFile<Event>(path: string, { schema, sync, onEvent }: Opening<Event>) {
  const descriptor = openForAppend(path, sync === true)
  try {
    const scanning = scanJournal(descriptor, path, { schema })
    for (;;) {
      const { done, value } = scanning.next()
      if (!done && onEvent) for (const event of value) onEvent(event)
      if (!done) continue
      const { lastSeq, warnings } = value
      return { descriptor, lastSeq, warnings, repaired: repairTail(descriptor, path, value) }
    }
  } catch (error) {
    closeSync(descriptor)
    const isOfSystem = Object(error).syscall !== undefined // any other one is ours already, or the listener's
    throw isOfSystem ? asWriteError(error, path) : error
  }
}

function openForAppend(path: string, sync: boolean): number {
  try {
    const descriptor = openSync(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600)
    const found = fstatSync(descriptor)
    if (!found.isFile()) {
      closeSync(descriptor)
      throw asWriteError({ code: found.isFIFO() ? 'ESPIPE' : 'EEXIST' }, path) // it may have no end
    }
    if (found.size === 0 && sync) syncPath(dirname(path)) // its name must survive, too
    return descriptor
  } catch (error) {
    throw asWriteError(error, path)
  }
}

/**
 * Notices that an open file was deleted, replaced by an editor, or shortened: writing to it succeeds, and its events are lost.
 *
 * @param leastBytes - What this writer knows to be in the file; somebody else may have added to it.
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
function refuseIfGone(descriptor: number, path: string, leastBytes: number): void {
  const { nlink, size } = fstatSync(descriptor)
  if (nlink > 0 && size >= leastBytes) return
  const what = nlink > 0 ? 'shortened' : 'deleted or replaced'
  const remedy = existsSync(path)
    ? 'What is no longer in it is lost. Restore the file, or continue from what is there now.'
    : 'What it held is lost with it. Put it back from a copy, then continue; without it there is nothing to continue.'
  const message = `${path}: The journal was ${what} while it was being written.\n${remedy}`
  throw new JournalError('ERR_JOURNAL_WRITE', message, { path })
}

const CHUNK_BYTES = 1 << 20

/**
 * Makes the end of a journal fit for appending.
 *
 * A last event without its newline is completed. A torn tail is first kept in
 * `journal.torn-<time>` beside the journal and only then cut off, so a crash
 * between the two loses nothing and the next open repairs again.
 */
function repairTail(
  descriptor: number,
  path: string,
  { remainder, unfinished }: { remainder: Remainder; unfinished: boolean },
): RepairedTail | undefined {
  const { offset, size } = remainder
  if (size === 0) return undefined
  if (unfinished) {
    appendWhole(descriptor, Buffer.from('\n'))
    fdatasyncSync(descriptor)
    return undefined
  }
  const keptIn = join(dirname(path), `journal.torn-${recordStamp(new Date())}`)
  keepTail(descriptor, offset, keptIn)
  ftruncateSync(descriptor, offset)
  fdatasyncSync(descriptor)
  return { tornBytes: size, keptIn }
}

function keepTail(from: number, offset: number, path: string): void {
  const to = openSync(path, 'wx', 0o600)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = offset; ; ) {
      const bytesRead = readSync(from, chunk, 0, CHUNK_BYTES, at)
      if (bytesRead === 0) break
      at += bytesRead
      appendWhole(to, chunk.subarray(0, bytesRead))
    }
    fsyncSync(to)
  } catch (error) {
    rmSync(path) // the bytes are still in the journal; half a copy of them would only confuse
    throw error
  } finally {
    closeSync(to)
  }
  syncPath(dirname(path))
}
