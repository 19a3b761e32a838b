import type { StoredEvent } from '../events/event.js'
import { checkOptions, checkPath, isText, requireThat } from '../usage.js'
import { lineSplitter } from './lines.js'
import { eventParser } from './parse.js'
import { endingOf, type JournalEnding, readBatches } from './read-batches.js'

/** What a journal holds. */
export interface JournalContents extends JournalEnding {
  /** Oldest first. */
  events: StoredEvent[]
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
  return { events, ...endingOf(remainder, last !== undefined, parser.numbers.warnings) }
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
