import { isKnownEvent, type StoredEvent, type Thought } from '@delta/journal'
import type { ChatMessage } from '@delta/model'
import { assistantMessage } from './assistant-message.js'

/** A piece of a conversation that is kept or dropped as a whole. */
export interface Turn {
  /** `cycle`: what the model said, with all results; the others are single messages from outside. */
  kind: 'cycle' | 'user' | 'system'
  /** Of a cycle: its number in the run, from 1. */
  iteration?: number
  messages: ChatMessage[]
}

/** Reads a conversation out of a run's events, as they come. */
export interface TurnCollector {
  push(events: Iterable<StoredEvent>): void
  /** The conversation so far. Turns that are complete are the same objects each time. */
  turns(): Turn[]
}

/**
 * What comes out is always a conversation that a strict API accepts.
 *
 * Results stand in the order of the calls, whatever order they came in. What users and the engine said between
 * a thought and its last result comes after that result. A call without a result gets an answer that says so, and
 * results nobody asked for are left out.
 */
export function collectTurns(): TurnCollector {
  const closed: Turn[] = []
  const usedIds = new Set<string>()
  let open: OpenCycle | undefined

  const close = () => {
    if (open !== undefined) closed.push(...render(open))
    open = undefined
  }
  const say = (kind: 'user' | 'system', content: string) => {
    if (open !== undefined && isAnswered(open)) close()
    const turns = open === undefined ? closed : open.later
    turns.push({ kind, messages: [{ role: kind, content }] })
  }

  function push(event: StoredEvent): void {
    if (!isKnownEvent(event)) return
    switch (event.type) {
      case 'USER_MESSAGE':
        say('user', event.content)
        break
      case 'SYSTEM_MESSAGE':
        say('system', event.content)
        break
      case 'THOUGHT':
        close()
        open = openCycle(event, usedIds)
        break
      default:
        if (open !== undefined) note(open, event)
    }
  }

  return {
    push: (events) => {
      for (const event of events) push(event)
    },
    turns: () => (open === undefined ? [...closed] : [...closed, ...render(open)]),
  }
}

/** A thought whose results may still come. */
interface OpenCycle {
  thought: Thought
  /** What each call is called in the conversation, by action id. */
  callIds: Map<string, string>
  /** Observations by action id. */
  results: Map<string, string>
  /** What hooks put in their place. */
  overrides: Map<string, string>
  /** How far calls without a result have come. */
  fates: Map<string, 'started' | 'asked'>
  later: Turn[]
}

function openCycle(thought: Thought, usedIds: Set<string>): OpenCycle {
  const callIds = new Map<string, string>()
  for (const [index, { action_id }] of thought.tool_calls.entries()) {
    callIds.set(action_id, unusedId(action_id, `${thought.iteration}-${index}`, usedIds))
  }
  return { thought, callIds, results: new Map(), overrides: new Map(), fates: new Map(), later: [] }
}

/** Journals of older engines hold ids that some servers gave out anew every turn. */
function unusedId(id: string, otherwise: string, usedIds: Set<string>): string {
  let unused = id
  for (let count = 1; usedIds.has(unused); count++) unused = count === 1 ? otherwise : `${otherwise}-${count}`
  usedIds.add(unused)
  return unused
}

function note(cycle: OpenCycle, event: StoredEvent): void {
  if (!isKnownEvent(event) || !('action_id' in event) || event.action_id === undefined) return
  switch (event.type) {
    case 'ACTION_REQUEST':
      cycle.fates.set(event.action_id, 'started')
      break
    case 'HUMAN_INPUT_REQUEST':
      cycle.fates.set(event.action_id, 'asked')
      break
    case 'ACTION_RESULT':
      cycle.results.set(event.action_id, event.observation_content)
      break
    case 'HOOK_EXECUTION_AUDIT':
      if (event.observation_override !== undefined)
        cycle.overrides.set(event.action_id, event.observation_override)
  }
}

function isAnswered({ thought, results }: OpenCycle): boolean {
  return thought.tool_calls.every(({ action_id }) => results.has(action_id))
}

function render(cycle: OpenCycle): Turn[] {
  const { thought, callIds, later } = cycle
  const results = thought.tool_calls.map(
    ({ action_id }): ChatMessage => ({
      role: 'tool',
      tool_call_id: callIds.get(action_id) ?? action_id,
      content: observation(cycle, action_id),
    }),
  )
  const messages = [assistantMessage(thought, callIds), ...results]
  return [{ kind: 'cycle', iteration: thought.iteration, messages }, ...later]
}

function observation({ results, overrides, fates }: OpenCycle, actionId: string): string {
  return overrides.get(actionId) ?? results.get(actionId) ?? WITHOUT_RESULT[fates.get(actionId) ?? 'never']
}

/** What the model reads in place of a result, so that it neither waits for one nor repeats a call blindly. */
const WITHOUT_RESULT = {
  started:
    '[No result: the run was interrupted during this call. It may have taken effect completely, in part, or not at all. ' +
    'Check what is there before you repeat it.]',
  asked: '[No result yet: this call waits for a person.]',
  never: '[No result: the run was interrupted before this call. It had no effect and can be repeated.]',
} as const
