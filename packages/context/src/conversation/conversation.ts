import type { StoredEvent } from '@delta/journal/runs'
import type { ChatMessage } from '@delta/model'
import type { Turn } from './turn.js'
import { sizeMessage } from './turn.js'
import { collectTurns } from './turns.js'

/**
 * The whole conversation of a run as chat messages, in a form that a strict API accepts.
 *
 * Results stand in the order of the calls. What users and the engine said between a thought and its last result comes after
 * that result. A call without a result gets an answer that says so, and results nobody asked for are left out.
 *
 */
export function conversationFromEvents(events: Iterable<StoredEvent>): ChatMessage[] {
  const list = isIterable(events) ? [...events] : undefined
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
 *
 * @param dropped - As for `keepFrom`.
 */
export function keepLastCycles(turns: readonly Turn[], cycles: number, dropped?: string): Turn[] {
  return keepFrom(turns, startOfLast(turns, cycles), dropped)
}

/**
 * What users said, and everything from the turn at `start` on.
 *
 * @param dropped - A mark that stands where the last of the cycles left out stood; `${count}` is how many they are: cycles
 *   are numbered from 1, so also those count that were not even read.
 */
export function keepFrom(turns: readonly Turn[], start: number, dropped?: string): Turn[] {
  const left = turns.findLastIndex(({ kind }, at) => at < start && (kind === 'cycle' || kind === 'dropped'))
  return turns.flatMap((turn, index) => {
    if (index === left && dropped !== undefined) return [markFor(turn, dropped)]
    return index >= start || turn.kind === 'user' ? [turn] : []
  })
}

function markFor({ iteration = 0 }: Turn, dropped: string): Turn {
  const content = dropped.replaceAll('${count}', String(iteration))
  return { kind: 'dropped', iteration, messages: [sizeMessage({ role: 'user', content })] }
}

/** The first turn of the cycle that number belongs to, or of the whole conversation. */
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
