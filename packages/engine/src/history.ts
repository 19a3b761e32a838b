import type { Calibration } from '@delta/context'
import {
  type ActionResult,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
  type Thought,
} from '@delta/journal/runs'
import { textOf } from '@delta/model'

/** What an engine needs from the journal before its first cycle, beyond the run's summary. */
export interface History {
  /** The events this engine began with: its `ENGINE_START` and those after it. */
  begun: JournalEvent[]
  usedActionIds: Set<string>
  /** The calls that asked for a sensitive answer, also for one that was erased. */
  sensitiveCalls: Set<string>
  userMessages: string[]
  /** What the provider last counted, and for how many bytes. */
  lastCount: { calibration?: Calibration }
  /** The last iteration in which a command got a result, and the records of its commands, relative to the run's directory. */
  lastExecutions: { iteration: number; refs: string[] }
}

export function historyOf(events: readonly StoredEvent[]): History {
  const history: History = {
    begun: [],
    usedActionIds: new Set(),
    sensitiveCalls: new Set(),
    userMessages: [],
    lastCount: {},
    lastExecutions: { iteration: 0, refs: [] },
  }
  for (const event of events) {
    if (!isKnownEvent(event)) continue
    if (event.type === 'ENGINE_START') history.begun = []
    history.begun.push(event)
    add(history, event)
  }
  return history
}

/** The last event of a type that belongs to a call. */
export function lastEventOf<Type extends 'ACTION_REQUEST' | 'HUMAN_INPUT_RECEIVED'>(
  events: readonly StoredEvent[],
  type: Type,
  actionId: string,
): Extract<JournalEvent, { type: Type }> | undefined {
  return events.findLast(
    (event): event is Extract<JournalEvent, { type: Type }> =>
      isKnownEvent(event) && event.type === type && 'action_id' in event && event.action_id === actionId,
  )
}

/** From the first event of the last iteration that has a thought on; all events where none has. */
export function lastIterationOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const thought = events.findLastIndex(({ type }) => type === 'THOUGHT')
  let first = Math.max(thought, 0)
  for (let index = first; index >= 0; index--) {
    const iteration = iterationOf(events[index])
    if (iteration === undefined) continue
    if (iteration !== iterationOf(events[thought])) break
    first = index
  }
  return thought === -1 ? events : events.slice(first)
}

function iterationOf(event: (StoredEvent & { iteration?: unknown }) | undefined): unknown {
  return event?.iteration
}

function add(history: History, event: JournalEvent): void {
  switch (event.type) {
    case 'USER_MESSAGE':
      history.userMessages.push(textOf(event.content))
      break
    case 'THOUGHT':
      addThought(history, event)
      break
    case 'HUMAN_INPUT_REQUEST':
      if (event.sensitive && event.action_id !== undefined) history.sensitiveCalls.add(event.action_id)
      break
    case 'ACTION_RESULT':
      addResult(history, event)
  }
}

function addThought(history: History, { tool_calls, usage, request_bytes: bytes }: Thought): void {
  for (const call of tool_calls) history.usedActionIds.add(call.action_id)
  const tokens = usage?.prompt_tokens
  if (tokens !== undefined && bytes !== undefined) history.lastCount.calibration = { tokens, bytes }
}

function addResult(history: History, { iteration, execution_ref: ref }: ActionResult): void {
  if (!ref) return
  if (iteration !== history.lastExecutions.iteration) history.lastExecutions = { iteration, refs: [] }
  history.lastExecutions.refs.push(ref)
}
