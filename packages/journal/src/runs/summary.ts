import {
  type EngineEnd,
  type EngineStart,
  type ErrorEvent,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type StoredEvent,
  type Thought,
  type UserMessage,
} from '../events/event.js'
import { type CallTracker, callTracker } from '../events/pending-calls.js'

/** Tokens as the provider counted them, added up over a run. */
export interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}

/** What a journal says about its run, gathered event by event in bounded memory. */
export interface JournalSummary {
  firstStart?: EngineStart
  lastStart?: EngineStart
  /** Of the last start that has one. */
  allowed?: EngineStart['allowed']
  /** The highest number of an owner; 0 when none is recorded. */
  lastEpoch: number
  /** Set only while no ENGINE_START follows it. */
  end?: EngineEnd
  firstTimestamp?: string
  lastTimestamp?: string
  firstMessage?: string
  lastError?: string
  /** Of the last ERROR that ended the run, as its details say. */
  lastErrorCode?: string
  lastThought?: Thought
  /** True when a USER_MESSAGE came after the last THOUGHT. */
  messageSinceThought: boolean
  /** True when the last THOUGHT was not used: the run was retried after it. */
  retriedSinceThought: boolean
  /** The ERROR that ended the run, while neither an ENGINE_END nor a USER_MESSAGE nor a THOUGHT follows it. */
  failure?: ErrorEvent
  humanRequest?: HumanInputRequest
  lastIteration: number
  iterationsSinceMessage: number
  usage: Usage
  lastSeq: number
  /** True when there is more than starts. */
  wentOn: boolean
}

const LARGEST_EPOCH = 1e14

export type Summarizer = ReturnType<typeof summarizer>

/** Folds events into a summary. `add` takes them in order; `summary` and `pendingCalls` may be asked at any time. */
export function summarizer() {
  const summary: JournalSummary = {
    lastEpoch: 0,
    messageSinceThought: false,
    retriedSinceThought: false,
    lastIteration: 0,
    iterationsSinceMessage: 0,
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    lastSeq: 0,
    wentOn: false,
  }
  const calls = callTracker()

  function add(event: StoredEvent): void {
    summary.firstTimestamp ??= event.timestamp
    summary.lastTimestamp = event.timestamp
    summary.lastSeq = Math.max(summary.lastSeq, event.seq)
    summary.wentOn ||= event.type !== 'ENGINE_START'
    if (isKnownEvent(event)) addKnown(event, summary, calls)
  }

  return { add, summary, pendingCalls: calls.pending }
}

function addKnown(event: JournalEvent, summary: JournalSummary, calls: CallTracker): void {
  switch (event.type) {
    case 'ENGINE_START':
      summary.firstStart ??= event
      summary.lastStart = event
      if (event.allowed) summary.allowed = event.allowed
      summary.lastEpoch = Math.max(summary.lastEpoch, epochOf(event))
      delete summary.end
      delete summary.lastError
      delete summary.lastErrorCode
      if (event.retry) summary.retriedSinceThought = true
      break
    case 'ENGINE_END':
      summary.end = event
      delete summary.failure
      break
    case 'USER_MESSAGE':
      summary.firstMessage ??= wordsOf(event)
      summary.messageSinceThought = true
      summary.iterationsSinceMessage = 0
      delete summary.failure
      break
    case 'THOUGHT':
      addThought(event, summary)
      calls.askedFor(event)
      break
    case 'ACTION_REQUEST':
      calls.requested(event.action_id)
      break
    case 'ACTION_RESULT':
      calls.answered(event.action_id)
      if (summary.humanRequest?.action_id === event.action_id) delete summary.humanRequest
      break
    case 'HUMAN_INPUT_REQUEST':
      summary.humanRequest = event
      break
    case 'HUMAN_INPUT_RECEIVED':
      delete summary.humanRequest
      break
    case 'ERROR':
      addError(event, summary)
      break
    case 'SYSTEM_MESSAGE':
    case 'SNAPSHOT':
    case 'HOOK_EXECUTION_AUDIT':
      break
    default:
      event satisfies never
  }
}

function wordsOf({ content }: UserMessage): string {
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
}

/** Errors that were recovered from have ended nothing. */
function addError(event: ErrorEvent, summary: JournalSummary): void {
  const { error_message, error_details, recoverable } = event
  summary.lastError = error_message
  if (recoverable === false) summary.failure = event
  const { code } = Object(error_details) as { code?: unknown }
  if (recoverable === false && typeof code === 'string') summary.lastErrorCode = code
  else delete summary.lastErrorCode
}

/** A number that no lease can have was put there by hand. */
function epochOf({ engine }: EngineStart): number {
  const epoch = engine?.epoch ?? 0
  return epoch < LARGEST_EPOCH ? epoch : 0
}

function addThought(event: Thought, summary: JournalSummary): void {
  if (event.iteration !== summary.lastThought?.iteration) summary.iterationsSinceMessage += 1
  summary.lastThought = event
  summary.messageSinceThought = false
  summary.retriedSinceThought = false
  delete summary.failure
  summary.lastIteration = Math.max(summary.lastIteration, event.iteration)
  for (const key of ['prompt_tokens', 'completion_tokens', 'total_tokens'] as const) {
    summary.usage[key] += event.usage?.[key] ?? 0
  }
}
