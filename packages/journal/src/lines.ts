import { JournalError } from './errors.js'
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

/** The state of a journal that has been read to its end. */
export interface Scan {
  lastSeq: number
  warnings: string[]
  remainder: Remainder
  /** True when the last line is an event that lacks only its newline. */
  unfinished: boolean
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

export const TOO_LONG = 'it is longer than 256 MiB'

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

/** Undefined for text that is not JSON: JSON.parse's own message counts characters that a reader cannot look up. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
