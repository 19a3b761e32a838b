import { JournalError } from '../errors.js'
import { eventProblem, isEvent } from '../events/check.js'
import type { StoredEvent } from '../events/event.js'

/** An event as it will be stored. The position comes first in the line, and is ours whatever the event says. */
export function stamp(event: { type: string }, seq: number, timestamp: string, path: string): StoredEvent {
  const stored = { seq, timestamp, ...event }
  stored.seq = seq
  stored.timestamp = timestamp
  if ('toJSON' in stored && typeof stored.toJSON === 'function')
    throw refused(path, 'it has a method toJSON, so what would be written is another value')
  if (isEvent(stored)) return stored
  throw refused(path, eventProblem(stored) ?? 'it is not an event')
}

/** The line of an event, its newline included. */
export function toLine(event: StoredEvent, path: string): string {
  try {
    return `${JSON.stringify(event)}\n`
  } catch (cause) {
    throw refused(path, `${event.type}: ${(cause as Error).message}`, cause)
  }
}

function refused(path: string, problem: string, cause?: unknown): JournalError {
  const message = `${path}: Refused to append an event: ${problem}.`
  return new JournalError('ERR_JOURNAL_EVENT', message, { path, cause })
}
