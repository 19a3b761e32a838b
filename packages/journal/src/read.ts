import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { isJournalError } from './errors.js'
import type { StoredEvent } from './event.js'
import { lineSplitter, type Remainder, splitLines } from './lines.js'
import { eventParser } from './parse.js'
import { openToRead, readAt } from './read-at.js'
import { asReadError } from './read-error.js'
import { readOldJournal } from './read-old.js'
import { checkOptions, checkPath, isText, requireThat } from './usage.js'

/** What a journal holds. */
export interface JournalContents {
  /** Oldest first. */
  events: StoredEvent[]
  /** Bytes after the last whole event: half a line, or a hole of NULs and what follows it. 0 for a clean file. */
  tornBytes: number
  /** Where the next read may start: the end of the last line that has its newline. */
  endOffset: number
  /** Missing or repeated numbers, in words. */
  warnings: string[]
}

const CHUNK_BYTES = 1 << 20

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
export async function readJournal(
  path: string,
  options: { fromOffset?: number | undefined } = {},
): Promise<JournalContents> {
  checkPath('readJournal', 'the path', path)
  checkOptions('readJournal', options)
  const { fromOffset = 0 } = options
  checkOffset('readJournal: the option fromOffset', fromOffset)
  const events: StoredEvent[] = []
  const reading = readBatches(path, fromOffset)
  for (;;) {
    const step = await reading.next()
    if (step.done) return { events, ...step.value }
    for (const event of step.value) events.push(event)
  }
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
export function parseJournal(
  bytes: Uint8Array,
  options: { path: string; offset?: number | undefined },
): JournalContents {
  requireThat(bytes instanceof Uint8Array, 'parseJournal: the piece of a journal', 'a Buffer or Uint8Array')
  requireThat(isText(Object(options).path), 'parseJournal: the option path', 'the path to name in errors')
  const { path, offset = 0 } = options
  checkOffset('parseJournal: the option offset', offset)
  const splitter = lineSplitter(offset)
  const parser = eventParser(path, { fromStart: offset === 0 })
  const block = splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const events = block ? parser.parseBlock(block) : []
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) events.push(last)
  return { events, ...ending(remainder, last !== undefined, parser.numbers.warnings) }
}

/**
 * The events of a journal one by one, in bounded memory.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT` when it comes to a damaged line. `ERR_JOURNAL_READ`.
 */
export async function* streamJournal(path: string): AsyncGenerator<StoredEvent, void> {
  checkPath('streamJournal', 'the path', path)
  for await (const batch of readBatches(path, 0)) yield* batch
}

function checkOffset(what: string, offset: unknown): void {
  const isOffset = Number.isSafeInteger(offset) && (offset as number) >= 0
  requireThat(isOffset, what, 'a number of bytes, 0 or more: an endOffset that was read before')
}

type Ending = Omit<JournalContents, 'events'>

async function* readBatches(path: string, fromOffset: number): AsyncGenerator<StoredEvent[], Ending> {
  const file = openToRead(path)
  if (file === undefined) return { tornBytes: 0, endOffset: 0, warnings: [] }
  let seen = 0
  try {
    const reading = readToday(file, path, fromOffset)
    for (;;) {
      const step = await reading.next()
      if (step.done) return step.value
      seen += step.value.length
      yield step.value
    }
  } catch (error) {
    if (!isJournalError(error)) throw asReadError(error, path)
    const rest = readRest(path, fromOffset, seen)
    yield rest.events
    return rest
  } finally {
    closeSync(file)
  }
}

/** Synchronously, a piece at a time: what is read comes from the cache mostly, and a promise for each read is dearer. */
async function* readToday(
  file: number,
  path: string,
  fromOffset: number,
): AsyncGenerator<StoredEvent[], Ending> {
  const splitter = lineSplitter(fromOffset)
  const parser = eventParser(path, { fromStart: fromOffset === 0 })
  for (let at = fromOffset; ; ) {
    const chunk = readAt(file, at, Math.min(CHUNK_BYTES, Math.max(0, fstatSync(file).size - at)))
    if (chunk.length === 0) break
    at += chunk.length
    const block = splitter.push(chunk)
    if (block) yield parser.parseBlock(block)
  }
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) yield [last]
  return ending(remainder, last !== undefined, parser.numbers.warnings)
}

/** What is still to come after `seen` events behind `fromOffset`, read the old way. */
function readRest(path: string, fromOffset: number, seen: number): JournalContents {
  const { events, lines, remainder, unfinished, warnings } = readOldJournal(path)
  const before = countLines(path, fromOffset)
  const first = lines.findIndex((line) => line > before)
  return {
    events: first === -1 ? [] : events.slice(first + seen),
    ...ending(remainder, unfinished, warnings),
  }
}

function ending({ offset, size }: Remainder, unfinished: boolean, warnings: string[]): Ending {
  return { tornBytes: unfinished ? 0 : size, endOffset: offset, warnings }
}

function countLines(path: string, end: number): number {
  return splitLines(readFileSync(path).subarray(0, end)).length
}
