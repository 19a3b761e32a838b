import { isUtf8 } from 'node:buffer'
import { eventProblem } from './check.js'
import { JournalError } from './errors.js'
import type { StoredEvent } from './event.js'
import type { Block, Remainder } from './lines.js'

/**
 * Turns whole lines into events, in order, and remembers where it stands.
 *
 * A complete line that is no event was not left by a crash of ours, so it is
 * reported, never skipped. Numbers that are missing or repeated (people may edit
 * a journal) are one warning.
 */
export function eventParser(path: string, { fromStart = true } = {}) {
  const warnings: string[] = []
  let line = 0
  let lastSeq = fromStart ? 0 : undefined

  function parseBlock({ bytes, offset }: Block): StoredEvent[] {
    if (!isUtf8(bytes)) throw badText(bytes, offset)
    const lines = bytes.toString('utf8').split('\n')
    lines.pop()
    return lines.map(parseLine)
  }

  function parseLine(text: string): StoredEvent {
    line += 1
    const value = parseJson(text)
    const problem = value === undefined ? 'it is not JSON' : eventProblem(value)
    if (problem !== undefined) throw corrupt(path, line, problem)
    return note(value as StoredEvent)
  }

  /** A last line without its newline counts when it is a whole event. */
  function parseRemainder({ bytes, hole }: Remainder): StoredEvent | undefined {
    if (hole || bytes.length === 0 || !isUtf8(bytes)) return undefined
    const value = parseJson(bytes.toString('utf8'))
    if (value === undefined || eventProblem(value) !== undefined) return undefined
    line += 1
    return note(value as StoredEvent)
  }

  function note(event: StoredEvent): StoredEvent {
    if (lastSeq !== undefined && event.seq !== lastSeq + 1 && warnings.length === 0) {
      warnings.push(
        `${path}:${line}: "seq" is ${event.seq} where ${lastSeq + 1} was expected; going on from the highest.`,
      )
    }
    lastSeq = Math.max(lastSeq ?? 0, event.seq)
    return event
  }

  function badText(bytes: Buffer, offset: number): JournalError {
    const lines = splitBytes(bytes)
    const bad = lines.findIndex((each) => !isUtf8(each))
    return corrupt(path, line + bad + 1, `it is not UTF-8 (the file's bytes from ${offset} on)`)
  }

  return { parseBlock, parseRemainder, warnings, lastSeq: () => lastSeq ?? 0 }
}

/** The error for a complete line that is not an event. */
export function corrupt(path: string, line: number, problem: string): JournalError {
  return new JournalError(
    'ERR_JOURNAL_CORRUPT',
    `${path}:${line}: This line is damaged: ${problem}.\n` +
      'No crash leaves a complete line damaged, so nothing was changed. Look at the line, then mend it by hand\n' +
      'or set it aside with: delta journal repair',
    { path, line },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller says which line it was; JSON.parse's position means nothing to a reader
  }
}

function splitBytes(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0, end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, start)) {
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}
