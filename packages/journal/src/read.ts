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
  const ending = endingOf(remainder, last !== undefined, parser.numbers.warnings)
  return { events: events, ...ending }
}

const CHUNK_BYTES = 1 << 20

/** Who only wants the first event, as of a run's agent or caller, does not pay for a thousand. */
const FIRST_CHUNK_BYTES = 1 << 14

type Batches<Event> = AsyncGenerator<Stored<Event>[], JournalEnding>

/** The events behind `fromOffset` in pieces; returns what the journal's end is like. */
async function* readBatches<Event>(
  path: string,
  { schema, fromOffset = 0 }: ReadOptions<Event> & { fromOffset?: number | undefined },
): Batches<Event> {
  const file = openToRead(path)
  if (file === undefined) return { tornBytes: 0, endOffset: 0, warnings: [] }
  let seen = 0
  try {
    const reading = readToday(file, path, { schema, fromOffset })
    for (;;) {
      const step = await reading.next()
      if (step.done) return step.value
      seen += step.value.length
      yield step.value
    }
  } catch (error) {
    if (!isJournalError(error)) throw asReadError(error, path)
    const { events, lines, remainder, unfinished, warnings } = readOldJournal(path, schema)
    const before = splitLines(readFileSync(path).subarray(0, fromOffset)).length
    const first = lines.findIndex((line) => line > before)
    if (first !== -1) yield events.slice(first + seen)
    return endingOf(remainder, unfinished, warnings)
  } finally {
    closeSync(file)
  }
}

/** Synchronously, a piece at a time: what is read comes from the cache mostly, and a promise for each read is dearer. */
async function* readToday<Event>(
  file: number,
  path: string,
  { schema, fromOffset }: ReadOptions<Event> & { fromOffset: number },
): Batches<Event> {
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
  return endingOf(remainder, last !== undefined, parser.numbers.warnings)
}

function endingOf({ offset, size }: Remainder, unfinished: boolean, warnings: string[]): JournalEnding {
  return { tornBytes: unfinished ? 0 : size, endOffset: offset, warnings }
}
