import type { StoredEvent } from '@delta/journal/runs'
import type { Turn } from './turn.js'
import { collectTurns } from './turns.js'

/** The conversation of a run that goes on. */
export interface Conversation {
  /** As it is now. */
  turns(): Promise<Turn[]>
}

/**
 * Keeps the conversation of a growing list of events, and looks only at those that were added since.
 *
 * @param read - Gives the list, as `events` of an open run does: another list in its place is looked at from its beginning.
 */
export function followEvents(read: () => Promise<readonly StoredEvent[]>): Conversation {
  let collector = collectTurns()
  let seen: readonly StoredEvent[] | undefined
  let count = 0
  return {
    async turns() {
      const events = await read()
      if (events !== seen) {
        collector = collectTurns()
        count = 0
      }
      collector.push(events.slice(count))
      seen = events
      count = events.length
      return collector.turns()
    },
  }
}
