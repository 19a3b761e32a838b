import { isUtf8 } from 'node:buffer'
import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { asReadError } from './errors.js'
import { type AnyEvent, type EventSchema, isRawLine, problemOf, type Stored } from './event.js'
import { openToRead, readAt } from './files.js'
import { readOldJournal } from './inspect.js'
import {
  corrupt,
  isTooLong,
  lineSplitter,
  numberCheck,
  parseJson,
  type Remainder,
  type Scan,
  splitLines,
  TOO_LONG,
} from './lines.js'

/** How the lines of a journal are read. */
export interface ReadOptions<Event> {
  /** What its events look like. Without one, each JSON object with `seq`, `timestamp` and `type` is an event. */
  schema?: EventSchema<Event> | undefined
}

/** The end of a journal that has been read. */
export interface JournalEnding {
  /** Bytes after the last whole event: half a line, or a hole of NULs and what follows it. 0 for a clean file. */
  tornBytes: number
  /** Where the next read may start: the end of the last line that has its newline. */
  endOffset: number
  /** Missing or repeated numbers, in words. */
  warnings: string[]
}

/** What a journal holds. */
export interface JournalContents<Event = AnyEvent> extends JournalEnding {
  /** Oldest first. */
  events: Stored<Event>[]
}

type FromOffset<Event> = ReadOptions<Event> & { fromOffset?: number | undefined }

/**
 * Reads a whole journal, or what was added behind `fromOffset`.
 *
 * An event counts once it is whole on disk. A torn tail is measured but stays in
 * the file: `openJournal` is what removes it. A last line that lacks only its
 * newline is an event (somebody edited the file), yet `endOffset` stays before it.
 *
 * @param path - Path of the journal. A missing file reads as an empty journal.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event. `ERR_JOURNAL_READ`.
 * @example
 * const { events, endOffset } = await readJournal('orders.jsonl')
 * const later = await readJournal('orders.jsonl', { fromOffset: endOffset })
 */
export async function readJournal<Event = AnyEvent>(
  path: string,
  options: FromOffset<Event> = {},
): Promise<JournalContents<Event>> {
  const events: Stored<Event>[] = []
  const reading = readBatches(path, options)
  for (;;) {
    const { done, value } = await reading.next()
    if (done) return { events, ...value }
    for (const event of value) events.push(event)
  }
}

/**
 * The events of a journal one by one, or those behind `fromOffset`, in bounded memory unless it has lines of an earlier format.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT` when it comes to a damaged line. `ERR_JOURNAL_READ`.
 * @example
 * for await (const { seq, type } of streamJournal('orders.jsonl')) console.log(seq, type)
 */
export async function* streamJournal<Event = AnyEvent>(
  path: string,
  options: FromOffset<Event> = {},
): AsyncGenerator<Stored<Event>, void> {
  for await (const batch of readBatches(path, options)) yield* batch
}

/** The events behind `fromOffset` in pieces; returns what the journal's end is like. */
async function* readBatches<Event>(
  path: string,
  options: FromOffset<Event>,
): AsyncGenerator<Stored<Event>[], JournalEnding> {
  const file = openToRead(path)
  if (file === undefined) return { tornBytes: 0, endOffset: 0, warnings: [] }
  try {
    const { remainder, unfinished, warnings } = yield* scanJournal(file, path, options)
    return { tornBytes: unfinished ? 0 : remainder.size, endOffset: remainder.offset, warnings }
  } catch (error) {
    throw asReadError(error, path)
  } finally {
    closeSync(file)
  }
}

/**
 * Reads an open journal, a piece at a time and blocking: most reads come from the cache, and a promise for each costs more
 * than the read. A journal with a line that is not an event of today is read whole: only that names the line.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event. The system's error.
 */
export function* scanJournal<Event>(
  file: number,
  path: string,
  { schema, fromOffset = 0 }: FromOffset<Event>,
): Generator<Stored<Event>[], Scan> {
  let seen = 0
  const scanning = scanToday(file, path, { schema, fromOffset })
  for (;;) {
    const { done, value } = scanning.next()
    if (!done) {
      seen += value.length
      yield value
    } else if (value) return value
    else break
  }
  const { events, lines, ...scan } = readOldJournal(path, schema)
  const before = splitLines(readFileSync(path).subarray(0, fromOffset)).length
  const first = lines.findIndex((line) => line > before)
  if (first !== -1) yield events.slice(first + seen)
  return scan
}

const CHUNK_BYTES = 1 << 20

/** A reader that needs only the first event does not pay for a thousand. */
const FIRST_CHUNK_BYTES = 1 << 14

/**
 * Returns undefined at the first line that is not an event of today.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a line is too long to be an event of any format.
 */
function* scanToday<Event>(
  file: number,
  path: string,
  { schema, fromOffset }: ReadOptions<Event> & { fromOffset: number },
): Generator<Stored<Event>[], Scan | undefined> {
  const splitter = lineSplitter(fromOffset)
  const parser = todayParser<Event>(path, { schema, fromStart: fromOffset === 0 })
  for (let at = fromOffset; ; ) {
    const most = at === 0 ? FIRST_CHUNK_BYTES : CHUNK_BYTES
    const chunk = readAt(file, at, Math.min(most, Math.max(0, fstatSync(file).size - at)))
    if (chunk.length === 0) break
    at += chunk.length
    const events = parser.parse(splitter.push(chunk)?.bytes ?? NO_BYTES)
    if (events === undefined) return undefined
    // not read as a whole to name it: that would cost several times its size
    if (isTooLong(splitter.pending())) {
      if (fromOffset > 0) return undefined
      throw corrupt(path, parser.nextLine(), TOO_LONG)
    }
    if (events.length > 0) yield events
  }
  const remainder = splitter.end()
  const last = parser.parse(wholeLineIn(remainder))
  if (last === undefined) return undefined
  if (last.length > 0) yield last
  return { ...parser.ending(), remainder, unfinished: last.length > 0 }
}

const NO_BYTES = Buffer.alloc(0)

/** A last line without its newline counts when it is a JSON object with a `type`: a crash would have torn the JSON. */
function wholeLineIn({ bytes, hole }: Remainder): Buffer {
  return !hole && isUtf8(bytes) && isRawLine(parseJson(bytes.toString('utf8'))) ? bytes : NO_BYTES
}

/** Turns whole lines into events, in order. What editing by hand leaves (blank lines, odd numbers) is at most one warning. */
function todayParser<Event>(
  path: string,
  { schema, fromStart }: { schema: EventSchema<Event> | undefined; fromStart: boolean },
) {
  const numbers = numberCheck(path, fromStart ? 0 : undefined)
  let line = 0

  /** Undefined when a line is not an event of today. */
  function parse(bytes: Buffer): Stored<Event>[] | undefined {
    if (!isUtf8(bytes)) return undefined
    const events: Stored<Event>[] = []
    for (const text of bytes.toString('utf8').split('\n')) {
      line += 1
      const value = parseJson(text)
      if (problemOf(value, schema) === undefined) events.push(numbers.note(value as Stored<Event>, line))
      else if (text.trim() !== '') return undefined
    }
    line -= 1 // behind the last newline there is nothing
    return events
  }

  function ending() {
    return { lastSeq: numbers.lastSeq(), warnings: numbers.warnings }
  }

  return { parse, ending, nextLine: () => line + 1 }
}

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
 * @example
 * const { events } = await readTail('orders.jsonl', { events: 10 })
 */
export async function readTail<Event = AnyEvent>(
  path: string,
  wanted: TailOptions & ReadOptions<Event>,
): Promise<JournalTail<Event>> {
  const file = openToRead(path)
  if (file === undefined) return { events: [], complete: true }
  try {
    const tail = readBackwards(file, path, wanted)
    if (tail) return tail
  } catch (error) {
    throw asReadError(error, path)
  } finally {
    closeSync(file)
  }
  return endOf((await readJournal(path, wanted)).events, wanted) // an old format, or damage: from the beginning its line can be named
}

/** Undefined when it comes to a line that is not an event of today. */
function readBackwards<Event>(
  file: number,
  path: string,
  wanted: TailOptions & ReadOptions<Event>,
): JournalTail<Event> | undefined {
  const { size } = fstatSync(file)
  for (let bytes = FIRST_WINDOW_BYTES; ; bytes *= WINDOW_GROWTH) {
    const start = firstLineFrom(file, Math.max(0, size - bytes), size)
    if (start === undefined) continue
    const events: Stored<Event>[] = []
    const scanning = scanToday(file, path, { schema: wanted.schema, fromOffset: start })
    for (;;) {
      const { done, value } = scanning.next()
      if (done && value === undefined) return undefined
      if (done) break
      for (const event of value) events.push(event)
    }
    const tail = endOf(events, wanted)
    if (!tail.complete || start === 0) return tail
  }
}

/** Where the first line begins at or behind `from`; undefined when none does. */
function firstLineFrom(file: number, from: number, size: number): number | undefined {
  if (from === 0) return 0
  const newline = readAt(file, from - 1, size - from + 1).indexOf('\n') // one byte more: a line may begin exactly at `from`
  return newline === -1 ? undefined : from + newline
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
