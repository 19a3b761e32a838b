import { closeSync, fstatSync } from 'node:fs'
import { asReadError, isJournalError } from './errors.js'
import type { AnyEvent, Stored } from './event.js'
import { openToRead, readAt } from './files.js'
import { parseJournal, type ReadOptions, readJournal } from './read.js'

/** The end of a journal. */
export interface JournalTail<Event = AnyEvent> {
  /** In the order of the journal. */
  events: Stored<Event>[]
  /** True when `events` is the whole journal. */
  complete: boolean
}

/** How much of the end: the last events, or those of the last different numbers in `iteration`, with what stands between them. */
export type TailOptions = { events: number } | { iterations: number }

const FIRST_WINDOW_BYTES = 1 << 16
const WINDOW_GROWTH = 4

/**
 * Reads the end of a journal without reading the rest: what it costs does not depend on the journal's length. Damage before
 * it is not seen.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: one of the lines read is not an event. `ERR_JOURNAL_READ`.
 */
export async function readTail<Event = AnyEvent>(
  path: string,
  wanted: TailOptions & ReadOptions<Event>,
): Promise<JournalTail<Event>> {
  const file = openToRead(path)
  if (file === undefined) return { events: [], complete: true }
  try {
    return readBackwards(file, path, wanted)
  } catch (error) {
    if (!isJournalError(error)) throw asReadError(error, path)
    return endOf((await readJournal(path, wanted)).events, wanted) // an old format, or damage: from the beginning its line can be named
  } finally {
    closeSync(file)
  }
}

function readBackwards<Event>(
  file: number,
  path: string,
  wanted: TailOptions & ReadOptions<Event>,
): JournalTail<Event> {
  const { size } = fstatSync(file)
  for (let bytes = FIRST_WINDOW_BYTES; ; bytes *= WINDOW_GROWTH) {
    const window = readWindow(file, Math.max(0, size - bytes), size)
    if (window === undefined) continue
    const { events } = parseJournal(window.bytes, { path, offset: window.offset, schema: wanted.schema })
    const tail = endOf(events, wanted)
    if (!tail.complete || window.offset === 0) return tail
  }
}

/** The bytes from the first line that begins in the window; undefined when none does. */
function readWindow(file: number, from: number, to: number) {
  const start = Math.max(0, from - 1) // one byte more tells whether a line begins exactly at `from`
  const read = readAt(file, start, to - start)
  if (start === 0) return { bytes: read, offset: 0 }
  const cut = read.indexOf(0x0a) + 1
  return cut === 0 ? undefined : { bytes: read.subarray(cut), offset: start + cut }
}

/** `complete` unless something stands before what is wanted. */
function endOf<Event>(events: Stored<Event>[], wanted: TailOptions): JournalTail<Event> {
  const first = 'events' in wanted ? events.length - wanted.events : firstOfLast(events, wanted.iterations)
  return first > 0 ? { events: events.slice(first), complete: false } : { events, complete: true }
}

/** Index of the first event of the N-th last iteration; 0 when there is no other before it. */
function firstOfLast(events: readonly object[], iterations: number): number {
  const seen = new Set<unknown>()
  let first = events.length
  for (let index = events.length - 1; index >= 0; index--) {
    const { iteration } = events[index] as { iteration?: unknown }
    if (iteration === undefined) continue
    if (!seen.has(iteration) && seen.size === iterations) return first
    seen.add(iteration)
    first = index
  }
  return 0
}
