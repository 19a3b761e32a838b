import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { isJournalError } from '../errors.js'
import type { StoredEvent } from '../events/event.js'
import { openToRead, readAt } from '../files/read-at.js'
import { asReadError } from '../files/read-error.js'
import { lineSplitter, type Remainder, splitLines } from './lines.js'
import { eventParser } from './parse.js'
import { readOldJournal } from './read-old.js'

const CHUNK_BYTES = 1 << 20

/** Who only wants the first event, as of a run's agent or caller, does not pay for a thousand. */
const FIRST_CHUNK_BYTES = 1 << 14

/** What is known of a journal once its end has been read. */
export interface JournalEnding {
  /** Bytes after the last whole event: half a line, or a hole of NULs and what follows it. 0 for a clean file. */
  tornBytes: number
  /** Where the next read may start: the end of the last line that has its newline. */
  endOffset: number
  /** Missing or repeated numbers, in words. */
  warnings: string[]
}

/**
 * The events behind `fromOffset` in pieces, in bounded memory unless the journal is an old one; returns what its end is like.
 *
 * @param options.mostOldBytes - A larger journal is not read the old way, which takes all of it into memory.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function* readBatches(
  path: string,
  fromOffset: number,
  { mostOldBytes = Number.POSITIVE_INFINITY }: { mostOldBytes?: number } = {},
): AsyncGenerator<StoredEvent[], JournalEnding> {
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
    if (fstatSync(file).size > mostOldBytes) throw error
    const { events, ...ending } = readRest(path, fromOffset, seen)
    yield events
    return ending
  } finally {
    closeSync(file)
  }
}

/** Synchronously, a piece at a time: what is read comes from the cache mostly, and a promise for each read is dearer. */
async function* readToday(
  file: number,
  path: string,
  fromOffset: number,
): AsyncGenerator<StoredEvent[], JournalEnding> {
  const splitter = lineSplitter(fromOffset)
  const parser = eventParser(path, { fromStart: fromOffset === 0 })
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

/** What is still to come after `seen` events behind `fromOffset`, read the old way. */
function readRest(path: string, fromOffset: number, seen: number): JournalEnding & { events: StoredEvent[] } {
  const { events, lines, remainder, unfinished, warnings } = readOldJournal(path)
  const before = countLines(path, fromOffset)
  const first = lines.findIndex((line) => line > before)
  return {
    events: first === -1 ? [] : events.slice(first + seen),
    ...endingOf(remainder, unfinished, warnings),
  }
}

export function endingOf(
  { offset, size }: Remainder,
  unfinished: boolean,
  warnings: string[],
): JournalEnding {
  return { tornBytes: unfinished ? 0 : size, endOffset: offset, warnings }
}

function countLines(path: string, end: number): number {
  return splitLines(readFileSync(path).subarray(0, end)).length
}
