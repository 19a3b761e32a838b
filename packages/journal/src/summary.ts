import {
  type EngineEnd,
  type EngineStart,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
  type Thought,
} from './event.js'

/** A call of the last THOUGHT that has no result yet. */
export interface PendingCall {
  action_id: string
  id: string
  name: string
  /** The raw string the model sent. */
  arguments: string
  iteration: number
  /** True when it may have been started: there is an ACTION_REQUEST. */
  requested: boolean
  /** How many ACTION_REQUESTs there are. */
  attempts: number
}

export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** What a journal says about its run, gathered event by event in bounded memory. */
export interface JournalSummary {
  firstStart?: EngineStart
  lastStart?: EngineStart
  /** Set only while no ENGINE_START follows it. */
  end?: EngineEnd
  firstTimestamp?: string
  lastTimestamp?: string
  firstMessage?: string
  lastError?: string
  lastThought?: Thought
  /** True when a USER_MESSAGE came after the last THOUGHT. */
  messageSinceThought: boolean
  humanRequest?: HumanInputRequest
  lastIteration: number
  iterationsSinceMessage: number
  usage: Usage
  lastSeq: number
}

export type Summarizer = ReturnType<typeof summarizer>

/** Folds events into a summary. `add` takes them in order; `summary` and `pendingCalls` may be asked at any time. */
export function summarizer() {
  const summary: JournalSummary = {
    messageSinceThought: false,
    lastIteration: 0,
    iterationsSinceMessage: 0,
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    lastSeq: 0,
  }
  let attempts = new Map<string, number>()
  let answered = new Set<string>()

  function add(event: StoredEvent): void {
    summary.firstTimestamp ??= event.timestamp
    summary.lastTimestamp = event.timestamp
    summary.lastSeq = Math.max(summary.lastSeq, event.seq)
    if (isKnownEvent(event)) addKnown(event)
  }

  function addKnown(event: JournalEvent): void {
    switch (event.type) {
      case 'ENGINE_START':
        summary.firstStart ??= event
        summary.lastStart = event
        delete summary.end
        delete summary.lastError
        break
      case 'ENGINE_END':
        summary.end = event
        break
      case 'USER_MESSAGE':
        summary.firstMessage ??= event.content
        summary.messageSinceThought = true
        summary.iterationsSinceMessage = 0
        break
      case 'THOUGHT':
        addThought(event)
        break
      case 'ACTION_REQUEST':
        attempts.set(event.action_id, (attempts.get(event.action_id) ?? 0) + 1)
        break
      case 'ACTION_RESULT':
        answered.add(event.action_id)
        if (summary.humanRequest?.action_id === event.action_id) delete summary.humanRequest
        break
      case 'HUMAN_INPUT_REQUEST':
        summary.humanRequest = event
        break
      case 'HUMAN_INPUT_RECEIVED':
        delete summary.humanRequest
        break
      case 'ERROR':
        summary.lastError = event.error_message
        break
      case 'SYSTEM_MESSAGE':
      case 'HOOK_EXECUTION_AUDIT':
        break
      default:
        event satisfies never
    }
  }

  function addThought(event: Thought): void {
    if (event.iteration !== summary.lastThought?.iteration) summary.iterationsSinceMessage += 1
    summary.lastThought = event
    summary.messageSinceThought = false
    summary.lastIteration = Math.max(summary.lastIteration, event.iteration)
    for (const key of ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const) {
      summary.usage[key] += event.usage?.[key] ?? 0
    }
    attempts = new Map()
    answered = new Set()
  }

  function pendingCalls(): PendingCall[] {
    const thought = summary.lastThought
    if (!thought) return []
    return thought.tool_calls
      .filter((call) => !answered.has(call.action_id))
      .map((call) => {
        const tried = attempts.get(call.action_id) ?? 0
        const { action_id, id, name, arguments: raw } = call
        return {
          action_id,
          id,
          name,
          arguments: raw,
          iteration: thought.iteration,
          requested: tried > 0,
          attempts: tried,
        }
      })
  }

  return { add, summary, pendingCalls }
}
