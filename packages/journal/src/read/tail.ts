import { closeSync, fstatSync } from 'node:fs'
import { isJournalError } from '../errors.js'
import type { StoredEvent } from '../events/event.js'
import { openToRead, readAt } from '../files/read-at.js'
import { asReadError } from '../files/read-error.js'
import { parseJournal, readJournal } from './read.js'
import { readUserMessages } from './user-messages.js'

/** The end of a journal, with everything the user said before it. */
export interface JournalTail {
  /** In the order of the journal. */
  events: StoredEvent[]
  /** True when `events` is the whole journal. */
  complete: boolean
}

/** How much of what stands before the tail is read. */
export interface TailOptions {
  /** False leaves out what the user said before the tail. Default true. */
  userMessages?: boolean | undefined
}

interface Wanted {
  iterations: number
  userMessages: boolean
}

const FIRST_WINDOW_BYTES = 1 << 16
const SMALLEST_WINDOW_BYTES = 1 << 12
const WINDOW_GROWTH = 4
/** The last iterations are mostly about as long as they were when this process last looked. */
const MARGIN = 1.25
const lastNeeded = new Map<string, number>()

/**
 * Reads the last iterations of a journal without reading the rest. Synchronously: it is little, and a promise for each
 * piece costs more than the reading.
 *
 * @param iterations - How many iterations with a THOUGHT to read.
 * @param options.userMessages - False leaves out what the user said before; finding it the first time takes one look
 *   through the whole file, so this is the form whose cost does not depend on the journal's length.
 * @returns Every USER_MESSAGE before the N-th last iteration, in order, then every
 *   event from the first one of that iteration on.
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`: one of the lines read is not an event. `ERR_JOURNAL_READ`.
 */
export async function readTail(
  path: string,
  iterations: number,
  options: TailOptions = {},
): Promise<JournalTail> {
  const { userMessages = true } = options
  const file = openToRead(path)
  if (file === undefined) return { events: [], complete: true }
  try {
    return readBackwards(file, path, { iterations, userMessages })
  } catch (error) {
    if (!isJournalError(error)) throw asReadError(error, path)
    return wholeTail(path, { iterations, userMessages }) // an old format, or damage: from the beginning its line can be named
  } finally {
    closeSync(file)
  }
}

function readBackwards(file: number, path: string, { iterations, userMessages }: Wanted): JournalTail {
  const { size } = fstatSync(file)
  for (let bytes = lastNeeded.get(path) ?? FIRST_WINDOW_BYTES; ; bytes *= WINDOW_GROWTH) {
    const window = readWindow(file, Math.max(0, size - bytes), size)
    if (window === undefined) continue
    const { events, offsets } = parseWindow(window, path)
    const first = firstOfTail(events, iterations)
    if (first === undefined && window.offset > 0) continue
    if (first === undefined) return { events, complete: true }
    const start = offsets[first] ?? window.offset
    lastNeeded.set(path, Math.max(SMALLEST_WINDOW_BYTES, Math.ceil(MARGIN * (size - start))))
    const before = userMessages ? readUserMessages(file, path, start) : []
    return { events: [...before, ...events.slice(first)], complete: false }
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

function parseWindow({ bytes, offset }: { bytes: Buffer; offset: number }, path: string) {
  const { events } = parseJournal(bytes, { path, offset })
  return { events, offsets: lineOffsets(bytes, offset, events.length) }
}

function lineOffsets(bytes: Buffer, offset: number, count: number): number[] {
  const offsets: number[] = []
  for (let at = 0; offsets.length < count; at = bytes.indexOf(0x0a, at) + 1) offsets.push(offset + at)
  return offsets
}

/** Index of the first event of the N-th last iteration, with another before it; undefined when more must be read to know. */
function firstOfTail(events: StoredEvent[], iterations: number): number | undefined {
  const seen = new Set<number>()
  let first: number | undefined
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index] as StoredEvent & { iteration?: number }
    if (event.iteration === undefined) continue
    if (seen.size >= iterations && !seen.has(event.iteration)) return first ?? events.length
    if (event.type === 'THOUGHT') seen.add(event.iteration)
    first = index
  }
  return undefined
}

async function wholeTail(path: string, { iterations, userMessages }: Wanted): Promise<JournalTail> {
  const { events } = await readJournal(path)
  const first = firstOfTail(events, iterations)
  if (first === undefined) return { events, complete: true }
  const said = userMessages ? events.slice(0, first).filter(({ type }) => type === 'USER_MESSAGE') : []
  return { events: [...said, ...events.slice(first)], complete: false }
}
