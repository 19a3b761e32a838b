import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { asReadError, isJournalError } from './errors.js'
import type { AnyEvent, EventSchema, Stored } from './event.js'
import { openToRead, readAt } from './files.js'
import { readOldJournal } from './inspect.js'
import { eventParser, lineSplitter, type Remainder, splitLines } from './lines.js'

/** How the lines of a journal are read. */
export interface ReadOptions<Event> {
  /** What its events look like. Without one, each JSON object with `seq`, `timestamp` and `type` is an event. */
  schema?: EventSchema<Event> | undefined
}

/** What is known of a journal once its end has been read. */
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

/**
 * Reads a whole journal, or what was added behind `fromOffset`.
 *
 * An event counts once it is whole on disk. A torn tail is measured but stays in
 * the file: `openJournal` is what removes it. A last line that lacks only its
 * newline is an event (somebody edited the file), yet `endOffset` stays before it.
 *
 * @param path - Path of the journal. A missing file reads as an empty journal.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event. `ERR_JOURNAL_READ`.
 */
export async function readJournal<Event = AnyEvent>(
  path: string,
  options: ReadOptions<Event> & { fromOffset?: number | undefined } = {},
): Promise<JournalContents<Event>> {
  const events: Stored<Event>[] = []
  const reading = readBatches(path, options)
  for (;;) {
    const step = await reading.next()
    if (step.done) return { events, ...step.value }
    for (const event of step.value) events.push(event)
  }
}

/**
 * The events of a journal one by one, in bounded memory unless it has lines of an earlier format.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT` when it comes to a damaged line. `ERR_JOURNAL_READ`.
 */
export async function* streamJournal<Event = AnyEvent>(
  path: string,
  options: ReadOptions<Event> = {},
): AsyncGenerator<Stored<Event>, void> {
  for await (const batch of readBatches(path, options)) yield* batch
}

/**
 * What a piece of a journal holds, without reading any file: for readers that follow one while it grows.
 *
 * @param bytes - From the beginning of a line on.
 * @param options.path - Named in errors and warnings.
 * @param options.offset - Where in the file `bytes` begin; `endOffset` counts from the file's beginning.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event of today's format. `readJournal` reads
 *   older ones too.
 */
export function parseJournal<Event = AnyEvent>(
  bytes: Uint8Array,
  options: ReadOptions<Event> & { path: string; offset?: number | undefined },
): JournalContents<Event> {
  const { path, schema, offset = 0 } = options
  const splitter = lineSplitter(offset)
  const parser = eventParser<Event>(path, { schema, fromStart: offset === 0 })
  const block = splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const events = block ? parser.parseBlock(block) : []
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) events.push(last)
  const { warnings } = parser.numbers
  return { events, ...endingOf({ remainder, unfinished: last !== undefined, warnings }) }
}

const CHUNK_BYTES = 1 << 20

/** Who only wants the first event, as of a run's agent or caller, does not pay for a thousand. */
const FIRST_CHUNK_BYTES = 1 << 14

/** The events behind `fromOffset` in pieces; returns what the journal's end is like. */
async function* readBatches<Event>(
  path: string,
  options: ReadOptions<Event> & { fromOffset?: number | undefined },
): AsyncGenerator<Stored<Event>[], JournalEnding> {
  const file = openToRead(path)
  if (file === undefined) return { tornBytes: 0, endOffset: 0, warnings: [] }
  try {
    const scanning = scanJournal(file, path, options)
    for (;;) {
      const step = scanning.next()
      if (step.done) return endingOf(step.value)
      yield step.value
    }
  } catch (error) {
    throw asReadError(error, path)
  } finally {
    closeSync(file)
  }
}

/** What is known of a journal that has been read to its end. */
export interface Scan {
  lastSeq: number
  warnings: string[]
  remainder: Remainder
  /** True when the last line is an event that lacks only its newline. */
  unfinished: boolean
}

/**
 * Reads an open journal, a piece at a time and blocking: what is read comes from the cache mostly, and a promise for each read
 * is dearer. What is not all in today's format is read whole.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event. The system's error.
 */
export function* scanJournal<Event>(
  file: number,
  path: string,
  options: ReadOptions<Event> & { fromOffset?: number | undefined },
): Generator<Stored<Event>[], Scan> {
  const { schema, fromOffset = 0 } = options
  let seen = 0
  try {
    const scanning = scanToday(file, path, { schema, fromOffset })
    for (;;) {
      const step = scanning.next()
      if (step.done) return step.value
      seen += step.value.length
      yield step.value
    }
  } catch (error) {
    if (!isJournalError(error)) throw error
    const { events, lines, ...scan } = readOldJournal(path, schema)
    const before = splitLines(readFileSync(path).subarray(0, fromOffset)).length
    const first = lines.findIndex((line) => line > before)
    if (first !== -1) yield events.slice(first + seen)
    return scan
  }
}

function* scanToday<Event>(
  file: number,
  path: string,
  { schema, fromOffset }: ReadOptions<Event> & { fromOffset: number },
): Generator<Stored<Event>[], Scan> {
  const splitter = lineSplitter(fromOffset)
  const parser = eventParser(path, { schema, fromStart: fromOffset === 0 })
  for (let at = fromOffset; ; ) {
    const most = at === 0 ? FIRST_CHUNK_BYTES : CHUNK_BYTES
    const chunk = readAt(file, at, Math.min(most, Math.max(0, fstatSync(file).size - at)))
    if (chunk.length === 0) break
    at += chunk.length
    const block = splitter.push(chunk)
    if (block) yield parser.parseBlock(block)
    parser.refuseLongLine(splitter.pending())
  }
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) yield [last]
  const { warnings, lastSeq } = parser.numbers
  return { lastSeq: lastSeq(), warnings, remainder, unfinished: last !== undefined }
}

function endingOf({
  remainder,
  unfinished,
  warnings,
}: Pick<Scan, 'remainder' | 'unfinished' | 'warnings'>): JournalEnding {
  const { offset, size } = remainder
  return { tornBytes: unfinished ? 0 : size, endOffset: offset, warnings }
}
