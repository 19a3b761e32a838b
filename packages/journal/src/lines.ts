import { isUtf8 } from 'node:buffer'
import { JournalError } from './errors.js'
import { type EventSchema, isRawLine, problemOf, type Stored } from './event.js'
import { LARGEST_TEXT_BYTES } from './files.js'

/** Whole lines (the last byte is a newline) and where in the file they begin. */
export interface Block {
  bytes: Buffer
  offset: number
}

/** What follows the last whole line: nothing, a line without its newline, or a hole of NULs. */
export interface Remainder {
  offset: number
  bytes: Buffer
  /** Bytes from `offset` to the end of the file; more than `bytes` holds once a hole was found. */
  size: number
  hole: boolean
}

const NEWLINE = 0x0a

/**
 * Cuts a file, handed over chunk by chunk, into whole lines and a remainder.
 *
 * A power cut can leave a run of NULs where data never reached the disk. From the
 * line in which such a hole begins everything belongs to the remainder.
 */
export function lineSplitter(fromOffset = 0) {
  let offset = fromOffset
  let rest: Buffer[] = []
  let restSize = 0
  let hole = false

  function push(chunk: Buffer): Block | undefined {
    if (hole || (rest.length > 0 && !chunk.includes(NEWLINE) && !chunk.includes(0))) {
      if (!hole) rest.push(chunk)
      restSize += chunk.length
      return undefined
    }
    const joined = rest.length === 0 ? chunk : Buffer.concat([...rest, chunk])
    const holeAt = findHole(joined)
    hole = holeAt !== -1
    const end = (hole ? joined.subarray(0, holeAt) : joined).lastIndexOf(NEWLINE) + 1
    const block = end === 0 ? undefined : { bytes: joined.subarray(0, end), offset }
    rest = end === joined.length ? [] : [joined.subarray(end)]
    restSize = joined.length - end
    offset += end
    return block
  }

  function end(): Remainder {
    return { offset, bytes: Buffer.concat(rest), size: restSize, hole }
  }

  /** Bytes of a line that has begun and is not whole yet. */
  function pending(): number {
    return hole ? 0 : restSize
  }

  return { push, end, pending }
}

/**
 * The first byte of a hole, or -1.
 *
 * A single NUL inside a line is a damaged byte, not a hole: cutting there would
 * drop acknowledged lines. A hole begins a line or is at least two bytes long.
 */
function findHole(bytes: Buffer): number {
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) {
    if (at === 0 || bytes[at - 1] === NEWLINE || bytes[at + 1] === 0) return at
  }
  return -1
}

/** The lines of a buffer without their newlines, and where each begins in it. */
export function splitLines(bytes: Buffer): Block[] {
  const lines: Block[] = []
  for (let offset = 0; offset < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, offset)
    const end = newline === -1 ? bytes.length : newline
    lines.push({ bytes: bytes.subarray(offset, end), offset })
    offset = end + 1
  }
  return lines
}

/**
 * Turns whole lines into events, in order, and remembers where it stands.
 *
 * A complete line that is no event was not left by a crash of ours, so it is
 * reported, never skipped. What editing by hand leaves (blank lines, missing or
 * repeated numbers) is one warning.
 */
export function eventParser<Event>(
  path: string,
  { schema, fromStart = true }: { schema: EventSchema<Event> | undefined; fromStart?: boolean },
) {
  const numbers = numberCheck(path, fromStart ? 0 : undefined)
  let line = 0

  function parseBlock({ bytes }: Block): Stored<Event>[] {
    if (!isUtf8(bytes)) throw corrupt(path, line + firstBadLine(bytes), NOT_UTF8)
    const lines = bytes.toString('utf8').split('\n')
    lines.pop() // behind the last newline there is nothing
    const events: Stored<Event>[] = []
    for (const text of lines) {
      line += 1
      const value = parseJson(text)
      const problem = problemOf(value, schema)
      if (problem === undefined) events.push(numbers.note(value as Stored<Event>, line))
      else if (text.trim() !== '') throw corrupt(path, line, problem)
    }
    return events
  }

  /** A last line without its newline counts when it is a whole event. A crash tears JSON, so other JSON is damage there, too. */
  function parseRemainder({ bytes, hole }: Remainder): Stored<Event> | undefined {
    if (hole || isTooLong(bytes.length) || !isUtf8(bytes)) return undefined
    const value = parseJson(bytes.toString('utf8'))
    if (!isRawLine(value)) return undefined
    const problem = problemOf(value, schema)
    if (problem !== undefined) throw corrupt(path, line + 1, problem)
    return numbers.note(value as unknown as Stored<Event>, line + 1)
  }

  /** Stops before a line that has no end in sight fills the memory. */
  function refuseLongLine(pendingBytes: number): void {
    if (isTooLong(pendingBytes)) throw corrupt(path, line + 1, TOO_LONG)
  }

  return { parseBlock, parseRemainder, refuseLongLine, numbers }
}

export const TOO_LONG = 'it is longer than 256 MiB'
export const NOT_UTF8 = 'it is not UTF-8'

export function isTooLong(bytes: number): boolean {
  return bytes > LARGEST_TEXT_BYTES
}

/** Watches `seq` go 1, 2, 3 …; the first deviation becomes a warning. */
export function numberCheck(path: string, startSeq: number | undefined) {
  const warnings: string[] = []
  let highest = startSeq

  function note<Event extends { seq: number }>(event: Event, line: number): Event {
    if (highest !== undefined && event.seq !== highest + 1 && warnings.length === 0) {
      const found = `"seq" is ${event.seq} where ${highest + 1} was expected`
      warnings.push(`${path}:${line}: ${found}; the journal continues from the highest number.`)
    }
    highest = Math.max(highest ?? 0, event.seq)
    return event
  }

  return { note, warnings, lastSeq: () => highest ?? 0 }
}

/** The error for a complete line that is not an event. */
export function corrupt(path: string, line: number, problem: string): JournalError {
  return new JournalError(
    'ERR_JOURNAL_CORRUPT',
    `${path}:${line}: This line is damaged: ${problem}.\n` +
      'A crash of ours tears only the end of a journal, so this was not one, and the file was left as it is.\n' +
      'Look at the line and repair it by hand, or set it aside.',
    { path, line, wayOut: 'repair' },
  )
}

/** Undefined for what is no JSON: JSON.parse's own message counts characters nobody can look up. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function firstBadLine(bytes: Buffer): number {
  return splitLines(bytes).findIndex((line) => !isUtf8(line.bytes)) + 1
}
