import { isKnownEvent, type StoredEvent, type Thought, type ToolCallRecord } from '@delta/journal'
import type { AssistantMessage, ChatMessage } from '@delta/model'
import { readableArguments } from './arguments.js'

/** A piece of a conversation that is kept or dropped as a whole. */
export interface Turn {
  /** `cycle`: what the model said, with all results; the rest are single messages from outside. */
  kind: 'cycle' | 'user' | 'system'
  messages: ChatMessage[]
}

/**
 * Reads a conversation out of a run's events.
 *
 * Results stand in the order of the calls, whatever order they came in. What users and the engine said between
 * a thought and its last result comes after that result. A call without a result gets an answer that says so, and
 * results nobody asked for are left out: what comes out is always a conversation that a strict API accepts.
 */
export function turnsFromEvents(events: Iterable<StoredEvent>): Turn[] {
  const turns: Turn[] = []
  let cycle: OpenCycle | undefined

  const say = (turn: Turn) => (cycle === undefined ? turns : cycle.later).push(turn)
  const close = () => {
    if (cycle === undefined) return
    turns.push({ kind: 'cycle', messages: cycleMessages(cycle) }, ...cycle.later)
    cycle = undefined
  }

  for (const event of events) {
    if (!isKnownEvent(event)) continue
    switch (event.type) {
      case 'USER_MESSAGE':
        if (cycle && isAnswered(cycle)) close()
        say({ kind: 'user', messages: [{ role: 'user', content: event.content }] })
        break
      case 'SYSTEM_MESSAGE':
        if (cycle && isAnswered(cycle)) close()
        say({ kind: 'system', messages: [{ role: 'system', content: event.content }] })
        break
      case 'THOUGHT':
        close()
        cycle = { thought: event, results: new Map(), overrides: new Map(), fates: new Map(), later: [] }
        break
      case 'ACTION_REQUEST':
        cycle?.fates.set(event.action_id, 'started')
        break
      case 'HUMAN_INPUT_REQUEST':
        if (event.action_id !== undefined) cycle?.fates.set(event.action_id, 'asked')
        break
      case 'ACTION_RESULT':
        cycle?.results.set(event.action_id, event.observation_content)
        break
      case 'HOOK_EXECUTION_AUDIT':
        if (event.action_id !== undefined && event.observation_override !== undefined) {
          cycle?.overrides.set(event.action_id, event.observation_override)
        }
        break
      default:
    }
  }
  close()
  return turns
}

interface OpenCycle {
  thought: Thought
  /** Observations by action id. */
  results: Map<string, string>
  /** What hooks put in their place. */
  overrides: Map<string, string>
  /** How far calls without a result have come. */
  fates: Map<string, 'started' | 'asked'>
  later: Turn[]
}

function isAnswered({ thought, results }: OpenCycle): boolean {
  return thought.tool_calls.every(({ action_id }) => results.has(action_id))
}

function cycleMessages(cycle: OpenCycle): ChatMessage[] {
  const results = cycle.thought.tool_calls.map(
    ({ action_id }): ChatMessage => ({
      role: 'tool',
      tool_call_id: action_id,
      content: observation(cycle, action_id),
    }),
  )
  return [assistantMessage(cycle.thought), ...results]
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

/** The provider's own message where it was kept, so that reasoning comes back as it was sent. */
function assistantMessage({ content, tool_calls: calls, message }: Thought): AssistantMessage {
  const kept = isMap(message) ? message : {}
  const { tool_calls: keptCalls, ...fields } = kept
  const text =
    'content' in kept ? (kept.content as string | null) : content === '' && calls.length > 0 ? null : content
  if (calls.length === 0) return { ...fields, role: 'assistant', content: text ?? '' }

  const written = Array.isArray(keptCalls) ? keptCalls : []
  return {
    ...fields,
    role: 'assistant',
    content: text,
    tool_calls: calls.map((call, index) => toolCall(call, written[index])),
  }
}

function toolCall({ action_id, name, arguments: text }: ToolCallRecord, kept: unknown) {
  const fields = isMap(kept) ? kept : {}
  return {
    ...fields,
    id: action_id,
    type: 'function' as const,
    function: { name, arguments: readableArguments(text) },
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
