import type { StoredEvent } from '@delta/journal'
import type { ChatMessage } from '@delta/model'
import { isEvents, requireThat } from '../usage.js'
import type { Turn } from './turn.js'
import { collectTurns } from './turns.js'

/**
 * The whole conversation of a run as chat messages, in a form that a strict API accepts.
 *
 * Results stand in the order of the calls. What users and the engine said between a thought and its last result comes after
 * that result. A call without a result gets an answer that says so, and results nobody asked for are left out.
 *
 * @throws {ContextError} `ERR_CONTEXT_USAGE`
 */
export function conversationFromEvents(events: Iterable<StoredEvent>): ChatMessage[] {
  const list = isIterable(events) ? [...events] : undefined
  requireThat(
    isEvents(list),
    'conversationFromEvents: the list of events',
    'a list of events, as readJournal of @delta/journal gives',
  )
  return turnsOf(list ?? []).flatMap(({ messages }) => messages.map(({ message }) => message))
}

function isIterable(value: unknown): value is Iterable<StoredEvent> {
  return typeof Object(value)[Symbol.iterator] === 'function'
}

export function turnsOf(events: Iterable<StoredEvent>): Turn[] {
  const collector = collectTurns()
  collector.push(events)
  return collector.turns()
}

/**
 * Keeps the last `cycles` cycles, and every message of the user's.
 *
 * What the engine said goes with the cycle it belongs to.
 */
export function keepLastCycles(turns: readonly Turn[], cycles: number): Turn[] {
  const start = startOfLast(turns, cycles)
  return turns.filter(({ kind }, index) => index >= start || kind === 'user')
}

/** As `readTail` of the journal package finds it: the first turn of the cycle that number belongs to, or of the whole conversation. */
function startOfLast(turns: readonly Turn[], cycles: number): number {
  let start = turns.length
  let iteration: number | undefined
  let left = cycles
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index]
    if (turn?.kind === 'cycle') {
      if (left === 0) return start
      left--
      iteration = turn.iteration
      start = index
    } else if (turn?.iteration !== undefined && turn.iteration === iteration) {
      start = index
    }
  }
  return 0
}
