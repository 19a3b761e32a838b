import { isUtf8 } from 'node:buffer'
import { JournalError } from '../errors.js'
import { eventProblem, isEvent } from '../events/check.js'
import type { StoredEvent } from '../events/event.js'
import { LARGEST_TEXT_BYTES } from '../files/read-at.js'
import { type Block, type Remainder, splitLines } from './lines.js'

/**
 * Turns whole lines into events, in order, and remembers where it stands.
 *
 * A complete line that is no event was not left by a crash of ours, so it is
 * reported, never skipped. What editing by hand leaves (blank lines, missing or
 * repeated numbers) is one warning.
 */
export function eventParser(path: string, { fromStart = true } = {}) {
  const numbers = numberCheck(path, fromStart ? 0 : undefined)
  let line = 0

  function parseBlock({ bytes }: Block): StoredEvent[] {
    if (!isUtf8(bytes)) throw corrupt(path, line + firstBadLine(bytes), 'it is not UTF-8')
    const lines = bytes.toString('utf8').split('\n')
    lines.pop() // behind the last newline there is nothing
    const events: StoredEvent[] = []
    for (const text of lines) {
      line += 1
      const value = parseJson(text)
      if (isEvent(value)) events.push(numbers.note(value, line))
      else if (text.trim() !== '') throw corrupt(path, line, lineProblem(value))
    }
    return events
  }

  /** A last line without its newline counts when it is a whole event. */
  function parseRemainder({ bytes, hole }: Remainder): StoredEvent | undefined {
    if (hole || isTooLong(bytes.length) || !isUtf8(bytes)) return undefined
    const value = parseJson(bytes.toString('utf8'))
    return isEvent(value) ? numbers.note(value, line + 1) : undefined
  }

  /** Stops before a line that has no end in sight fills the memory. */
  function refuseLongLine(pendingBytes: number): void {
    if (isTooLong(pendingBytes)) throw corrupt(path, line + 1, TOO_LONG)
  }

  return { parseBlock, parseRemainder, refuseLongLine, numbers }
}

export const TOO_LONG = 'it is longer than 256 MiB'

export function isTooLong(bytes: number): boolean {
  return bytes > LARGEST_TEXT_BYTES
}

/** Watches `seq` go 1, 2, 3 …; the first deviation becomes a warning. */
export function numberCheck(path: string, startSeq: number | undefined) {
  const warnings: string[] = []
  let highest = startSeq

  function note(event: StoredEvent, line: number): StoredEvent {
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

export function lineProblem(value: unknown): string {
  return value === undefined ? 'it is not JSON' : (eventProblem(value) ?? 'it is not an event')
}

function firstBadLine(bytes: Buffer): number {
  return splitLines(bytes).findIndex((line) => !isUtf8(line.bytes)) + 1
}
