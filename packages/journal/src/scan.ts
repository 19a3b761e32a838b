import { readSync } from 'node:fs'
import type { StoredEvent } from './event.js'
import { lineSplitter, type Remainder } from './lines.js'
import { eventParser } from './parse.js'

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
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event.
 */
export function scanJournal(descriptor: number, path: string, each?: (event: StoredEvent) => void): Scan {
  const splitter = lineSplitter()
  const parser = eventParser(path)
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const bytesRead = readSync(descriptor, chunk, 0, CHUNK_BYTES, at)
    if (bytesRead === 0) break
    at += bytesRead
    const block = splitter.push(Buffer.from(chunk.subarray(0, bytesRead)))
    if (!block) continue
    for (const event of parser.parseBlock(block)) each?.(event)
  }
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) each?.(last)
  return {
    lastSeq: parser.lastSeq(),
    warnings: parser.warnings,
    remainder,
    unfinished: last !== undefined,
  }
}
