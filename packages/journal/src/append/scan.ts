import { readSync } from 'node:fs'
import type { StoredEvent } from '../events/event.js'
import { lineSplitter, type Remainder } from '../read/lines.js'
import { eventParser } from '../read/parse.js'
import { orOldJournal } from '../read/read-old.js'

/** What a writer must know about a journal before it appends. */
export interface Scan {
  lastSeq: number
  warnings: string[]
  remainder: Remainder
  /** True when the last line is an event that lacks only its newline. */
  unfinished: boolean
}

const CHUNK_BYTES = 1 << 20

/**
 * Reads an open journal from its beginning, blocking.
 *
 * @param each - Called with every event, in order.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event.
 */
export function scanJournal(descriptor: number, path: string, each?: (event: StoredEvent) => void): Scan {
  let seen = 0
  const count = (event: StoredEvent) => {
    seen += 1
    each?.(event)
  }
  const scan = orOldJournal(path, () => scanToday(descriptor, path, count))
  if ('events' in scan) for (const event of scan.events.slice(seen)) each?.(event)
  return scan
}

function scanToday(descriptor: number, path: string, each: (event: StoredEvent) => void): Scan {
  const splitter = lineSplitter()
  const parser = eventParser(path)
  for (let at = 0; ; ) {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    const bytesRead = readSync(descriptor, chunk, 0, CHUNK_BYTES, at)
    if (bytesRead === 0) break
    at += bytesRead
    const block = splitter.push(chunk.subarray(0, bytesRead))
    if (block) for (const event of parser.parseBlock(block)) each(event)
    parser.refuseLongLine(splitter.pending())
  }
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) each(last)
  const { warnings, lastSeq } = parser.numbers
  return { lastSeq: lastSeq(), warnings, remainder, unfinished: last !== undefined }
}
