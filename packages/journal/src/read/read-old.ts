import { isJournalError } from '../errors.js'
import type { StoredEvent } from '../events/event.js'
import { inspectJournal } from './inspect.js'
import type { Remainder } from './lines.js'
import { corrupt, numberCheck } from './parse.js'

/** A journal that is not wholly in today's format, understood as one that is. */
export interface OldJournal {
  events: StoredEvent[]
  /** The line each event stands on. */
  lines: number[]
  remainder: Remainder
  unfinished: boolean
  warnings: string[]
  lastSeq: number
  /** True when an older version wrote it; false when only numbers or times are missing. */
  old: boolean
}

/**
 * Reads a journal whole, whatever format its lines have.
 *
 * The way to take when a line is not an event of today: either it is one of an
 * older format or edited by hand, or this names the line that is damaged.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`.
 */
export function readOldJournal(path: string, options?: { ioDirectory?: string }): OldJournal {
  const { lines, remainder, unfinished, old } = inspectJournal(path, options)
  const numbers = numberCheck(path, 0)
  const events = lines.map(({ event, line, problem }) => {
    if (!event) throw corrupt(path, line, problem ?? 'it is not an event')
    return numbers.note(event, line)
  })
  const unnumbered = lines.find(({ raw }) => raw?.seq === undefined)
  const missing = `${path}:${unnumbered?.line}: "seq" is missing; the line is counted as if it had the next number.`
  return {
    events,
    lines: lines.map(({ line }) => line),
    remainder,
    unfinished,
    warnings: [...(unnumbered ? [missing] : []), ...numbers.warnings],
    lastSeq: numbers.lastSeq(),
    old,
  }
}

/**
 * Runs a reader of today's format; when it meets a line it does not know, reads the old way instead.
 *
 * @param read - Throws `ERR_JOURNAL_CORRUPT` for such a line.
 */
export function orOldJournal<Result>(path: string, read: () => Result): Result | OldJournal {
  try {
    return read()
  } catch (error) {
    if (isJournalError(error) && error.code === 'ERR_JOURNAL_CORRUPT') return readOldJournal(path)
    throw error
  }
}
