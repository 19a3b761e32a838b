import type { StoredEvent } from '../events/event.js'
import { lineSplitter } from './lines.js'
import { eventParser } from './parse.js'
import { endingOf, type JournalEnding, readBatches } from './read-batches.js'

/** What a journal holds. */
export interface JournalContents<Event = StoredEvent> extends JournalEnding {
  /** Oldest first. */
  events: Event[]
}

/**
 * Reads a whole journal, or what was added behind `fromOffset`. `Event` is the caller's word for what is in it; nothing checks that.
 *
 * An event counts once it is whole on disk. A torn tail is measured but stays in
 * the file: `openJournal` is what removes it. A last line that lacks only its
 * newline is an event (somebody edited the file), yet `endOffset` stays before it.
 *
 * @param path - Path of the journal. A missing file reads as an empty journal.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: a complete line is not an event. `ERR_JOURNAL_READ`.
 */
export async function readJournal<Event = StoredEvent>(
  path: string,
  options: { fromOffset?: number | undefined } = {},
): Promise<JournalContents<Event>> {
  const { fromOffset = 0 } = options
  const events: Event[] = []
  const reading = readBatches(path, fromOffset)
  for (;;) {
    const step = await reading.next()
    if (step.done) return { events, ...step.value }
    for (const event of step.value) events.push(event as Event)
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
export function parseJournal<Event = StoredEvent>(
  bytes: Uint8Array,
  options: { path: string; offset?: number | undefined },
): JournalContents<Event> {
  const { path, offset = 0 } = options
  const splitter = lineSplitter(offset)
  const parser = eventParser(path, { fromStart: offset === 0 })
  const block = splitter.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const events = block ? parser.parseBlock(block) : []
  const remainder = splitter.end()
  const last = parser.parseRemainder(remainder)
  if (last) events.push(last)
  return { events: events as Event[], ...endingOf(remainder, last !== undefined, parser.numbers.warnings) }
}

/**
 * The events of a journal one by one, in bounded memory.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT` when it comes to a damaged line. `ERR_JOURNAL_READ`.
 */
export async function* streamJournal<Event = StoredEvent>(path: string): AsyncGenerator<Event, void> {
  for await (const batch of readBatches(path, 0)) yield* batch as Event[]
}
