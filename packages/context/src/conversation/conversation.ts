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
 * What the engine said before the first cycle that stays goes with the cycles it belonged to.
 */
export function keepLastCycles(turns: readonly Turn[], cycles: number): Turn[] {
  const start = startOfLast(turns, cycles)
  return turns.filter(({ kind }, index) => index >= start || kind === 'user')
}

function startOfLast(turns: readonly Turn[], cycles: number): number {
  let left = cycles
  for (let index = turns.length - 1; index >= 0; index--) {
    if (turns[index]?.kind !== 'cycle') continue
    if (left === 0) return index + 1
    left--
  }
  return 0
}
