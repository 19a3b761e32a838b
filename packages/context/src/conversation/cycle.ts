import { isKnownEvent, type StoredEvent, type Thought } from '@delta/journal/runs'
import type { ChatMessage } from '@delta/model'
import { assistantMessage } from './assistant-message.js'
import type { Turn } from './turn.js'
import { sizeMessage } from './turn.js'

/** A thought whose results may still come. */
export interface OpenCycle {
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
  /** The cycle as it was last rendered, until more is known of it. */
  rendered?: Turn | undefined
}

export function openCycle(thought: Thought, usedIds: Set<string>): OpenCycle {
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

/** Remembers what an event says about one of the cycle's calls. */
export function note(cycle: OpenCycle, event: StoredEvent): void {
  if (!isKnownEvent(event) || !('action_id' in event) || event.action_id === undefined) return
  cycle.rendered = undefined
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

export function isAnswered({ thought, results }: OpenCycle): boolean {
  return thought.tool_calls.every(({ action_id }) => results.has(action_id))
}

/** The cycle as it stands now, and what was said meanwhile behind it. */
export function render(cycle: OpenCycle): Turn[] {
  cycle.rendered ??= turnOf(cycle)
  return [cycle.rendered, ...cycle.later]
}

function turnOf(cycle: OpenCycle): Turn {
  const { thought, callIds } = cycle
  const results = thought.tool_calls.map(
    ({ action_id }): ChatMessage => ({
      role: 'tool',
      tool_call_id: callIds.get(action_id) ?? action_id,
      content: observation(cycle, action_id),
    }),
  )
  const messages = [assistantMessage(thought, callIds), ...results]
  return { kind: 'cycle', iteration: thought.iteration, messages: messages.map(sizeMessage) }
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
