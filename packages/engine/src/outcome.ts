import type { Limits } from '@delta/config-loader'
import { wallTimeInWords } from '@delta/config-loader/internal'
import type { Effects } from '@delta/executor'
import type { EngineEnd, ErrorEvent, RunSummary, RunUsage, Thought, Totals } from '@delta/journal/runs'

/** How this engine's part of a run ends. */
export type Outcome = Completed | Failure | Interrupted | Waiting

/** A failed run, with further fields of its `ERROR` event. */
export interface Failure extends Failed {
  /** The iteration in which the run failed. */
  iteration: number
  details?: object
  /** What its answer cost, if one came. */
  paid?: Partial<ErrorEvent>
}

/** An answer that may be a mistake of the model or its server; `accept_empty` of the agent decides. */
type DoubtCode = 'empty_answer' | 'unparsed_tool_call' | 'missing_tool_call'

/** Why a run failed, and when a retry can succeed. */
export const RETRY = {
  empty_answer: 'at once',
  unparsed_tool_call: 'at once',
  missing_tool_call: 'at once',
  limit_iterations: 'at once', // with a higher limit
  limit_tokens: 'once fixed', // likewise, or when a run above may spend more
  limit_cost: 'once fixed',
  limit_wall_time: 'once fixed',
  context_overflow: 'once fixed',
  content_filter: 'at once',
  cut_off: 'at once',
  model_refused: 'at once',
  hook_stopped: 'refused',
  critical_tool: 'refused',
  provider_unavailable: 'at once',
  provider_refused: 'once fixed',
  provider_answer: 'at once',
  context_source: 'once fixed',
  replay_mismatch: 'new run', // the same records give the same difference
  configuration: 'once fixed',
  internal: 'at once',
} as const

type FailureCode = keyof typeof RETRY

interface Completed {
  status: 'COMPLETED'
  reasonCode: 'answered' | DoubtCode
  /** The model's last text. */
  answer: string
  /** What may be wrong with the answer, such as that it is empty. */
  reason?: string
}

interface Failed {
  status: 'FAILED'
  reasonCode: FailureCode
  /** For people. */
  reason: string
  /** The text of an answer that was cut off or is not one. */
  partialAnswer?: string
  /** The limit of iterations after a message; only with `limit_iterations`. */
  maxIterations?: number
  /** What a retry needs to be set, as `path=value`, when a limit of the agent ended the run. */
  retryWith?: string
}

interface Interrupted {
  status: 'INTERRUPTED'
  reasonCode: 'signal' | 'killed'
  /** The signal's, usually its name. `killed`: the run was, of which this one is a replay. */
  reason: string
}

interface Waiting {
  status: 'WAITING_FOR_INPUT'
  reasonCode: 'question' | 'approval'
  /** What waits for a person. */
  question: Question
}

/** The value of one part of an iteration, or the end of the run. */
export type OrStopped<Value> = { value: Value } | { stopped: Outcome }

/** A question to a person: from `ask_human`, or whether one exact command may run. */
export interface Question {
  /** The id that a decision names. */
  requestId: string
  /** The question. It may contain control characters: escape them before you print it to a terminal. */
  prompt: string
  /** The answer to a `confirmation` begins with yes, no, `y` or `n`. Hide the characters of a `password`. */
  inputType: 'text' | 'password' | 'confirmation'
  /** True for a secret: the journal and the model get a token in place of the answer. */
  sensitive: boolean
  /** The command to approve, as it would be typed; undefined for `ask_human`. */
  command?: string
  /** With `command`, for a tool in a sandbox: the whole command line, as it would be typed. */
  started?: string | undefined
  /** With `command`: its tool, why it needs approval, and the tool's declared effects. */
  tool?: string
  reasons?: readonly string[]
  effects?: Effects
}

/** The result of `runAgent` and `continueRun`. `status` says how the run ended and which other fields are set. */
export type RunResult = FinishedRun & StartedRun

/** Without how this engine found the run. */
export type FinishedRun = EndedRun & AllKeys<Completed | Failed | Interrupted | Waiting>

interface StartedRun {
  /** True unless this engine began the run. */
  resumed: boolean
  /** The agent's files that had changed since the run's last start, as `configuration/` names them. */
  changedFiles: string[]
}

interface EndedRun {
  runId: string
  /** Absolute path of `.delta/<run_id>`, or of the run in the `runsDirectory`. */
  runDirectory: string
  /** Number of the last iteration, counted from the run's start. */
  iterations: number
  usage: RunUsage
  /** What the run and its sub-agents have cost, over all its engines. */
  totals: Totals
  /** What this engine warned of, as `ENGINE_END` records it. */
  warnings: string[]
}

/** Gives each member the keys of the others, as undefined: `result.answer` compiles without a check of `status`. */
type AllKeys<
  Union,
  Keys extends PropertyKey = Union extends unknown ? keyof Union : never,
> = Union extends unknown ? Union & { [Key in Exclude<Keys, keyof Union>]?: undefined } : never

/** The outcome of a stopped run: the reason of the signal, usually its name, or the limit of its time. */
export function interrupted({ reason }: AbortSignal): Outcome {
  if (isTimeUp(reason)) return reason
  return { status: 'INTERRUPTED', reasonCode: 'signal', reason: String(reason ?? 'aborted') }
}

function isTimeUp(reason: unknown): reason is Failure {
  const { reasonCode } = Object(reason) as Partial<Failure>
  return reasonCode === 'limit_wall_time'
}

/** What is wrong with an answer: a code, and the reason for people. */
type Fault<Code extends FailureCode = FailureCode> = [code: Code, reason: string]

/** Why an answer is incomplete, by the provider's `finish_reason`. */
const CUT_SHORT: Readonly<Record<string, Fault>> = {
  length: [
    'cut_off',
    "the answer was cut off at the model's token limit; raise llm.max_tokens (Responses: llm.max_output_tokens), or ask for the rest with a message",
  ],
  content_filter: ['content_filter', "the provider's filter held the answer back"],
}

const EMPTY = 'the answer is empty: the model sent neither text nor a tool call'
const HINT = '. If that is right for this agent, set accept_empty: true in agent.yaml'

/** How a tool call begins that the server did not parse. Not `\s*`, which is slow over many empty lines. */
const WRITTEN_CALL =
  /^[ \t]*(<tool_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_calls?_|<｜tool▁call|\{\s*"name":\s*"[\w-]+",\s*"(arguments|parameters)":)/m

const CALL_AS_TEXT =
  'the answer contains a tool call written as text, which was not run: the server did not recognise it. Its parser for tool calls may be switched off, or made for another model'

const CALL_MISSING = 'the server announced a tool call along with this text, but sent none'

/**
 * The outcome of a thought without tool calls: its text is the answer, unless it is incomplete or refused or, without
 * `acceptEmpty`, is empty or has lost its tool call.
 */
export function conclude(thought: ConcludingThought, { acceptEmpty }: { acceptEmpty: boolean }): Outcome {
  const { content, iteration } = thought
  const doubt = doubtAbout(thought)
  const [reasonCode, reason] = incompleteness(thought) ?? (acceptEmpty ? undefined : doubt) ?? []
  if (reasonCode !== undefined && reason !== undefined) {
    const hint = reasonCode === 'empty_answer' ? HINT : ''
    const partial = content.trim() === '' ? {} : { partialAnswer: content }
    return { status: 'FAILED', reasonCode, reason: `${reason}${hint}`, iteration, ...partial }
  }
  if (doubt === undefined) return { status: 'COMPLETED', reasonCode: 'answered', answer: content }
  return { status: 'COMPLETED', reasonCode: doubt[0], answer: content, reason: doubt[1] }
}

function incompleteness({ content, finish_reason: reason, message }: ConcludingThought): Fault | undefined {
  const [code, why] = CUT_SHORT[reason ?? ''] ?? []
  if (code !== undefined) return [code, `${why} (finish_reason: ${reason})`]
  const { refusal } = Object(message) as { refusal?: unknown }
  const isRefused = content === '' && typeof refusal === 'string'
  return isRefused ? ['model_refused', `the model refused: ${refusal}`] : undefined
}

function doubtAbout({ content, finish_reason: reason }: ConcludingThought): Fault<DoubtCode> | undefined {
  if (content.trim() === '') return ['empty_answer', EMPTY]
  if (WRITTEN_CALL.test(content)) return ['unparsed_tool_call', CALL_AS_TEXT]
  const isAnnounced = /call|tool/i.test(reason ?? '')
  return isAnnounced ? ['missing_tool_call', `${CALL_MISSING} (finish_reason: ${reason})`] : undefined
}

type ConcludingThought = Pick<Thought, 'content' | 'iteration' | 'finish_reason' | 'message'>

/** The failure code of each error code; any other is `internal`. */
const FAILURE_OF_ERROR: ReadonlyMap<unknown, FailureCode> = new Map([
  ['ERR_MODEL_CONNECTION', 'provider_unavailable'],
  ['ERR_MODEL_TIMEOUT', 'provider_unavailable'],
  ['ERR_MODEL_RATE_LIMIT', 'provider_unavailable'],
  ['ERR_MODEL_SERVER', 'provider_unavailable'],
  ['ERR_MODEL_QUOTA', 'provider_refused'],
  ['ERR_MODEL_ACCESS', 'provider_refused'],
  ['ERR_MODEL_NOT_FOUND', 'provider_refused'],
  ['ERR_MODEL_REQUEST', 'provider_refused'],
  ['ERR_MODEL_TOO_LONG', 'context_overflow'],
  ['ERR_MODEL_RESPONSE', 'provider_answer'],
  ['ERR_MODEL_SETTINGS', 'configuration'],
  ['ERR_MODEL_SCRIPT_END', 'configuration'],
  ['ERR_MODEL_REPLAY_DIFFERS', 'replay_mismatch'],
  ['ERR_ENGINE_NOT_RECORDED', 'replay_mismatch'],
  ['ERR_CONTEXT_SOURCE', 'context_source'],
  ['ERR_CONTEXT_GENERATOR', 'context_source'],
  ['ERR_CONTEXT_COUNTER', 'context_source'],
  ['ERR_CONTEXT_BUDGET', 'context_overflow'],
])

/** The failure of a run that an error ended. */
export function failureBy(
  error: { message: string; code?: unknown },
  about: { iteration: number; details: object; paid?: Partial<ErrorEvent> },
): Failure {
  return {
    status: 'FAILED',
    reason: error.message,
    reasonCode: FAILURE_OF_ERROR.get(error.code) ?? 'internal',
    ...about,
  }
}

/** How a failed run is retried without a message. */
interface Retry {
  /** The limit that the retry needs, when the limit ended the run. */
  maxIterations?: number
  /** True when a retry fails until something outside the run is fixed. */
  onceFixed: boolean
}

/**
 * How a run that ended with this code is retried. Undefined when a retry is refused: the code is missing, unknown to this
 * version, or of a deliberate end.
 *
 * @param maxIterations - The limit of iterations after the last message; only used after `limit_iterations`.
 */
export function retryOf(code: string | undefined, maxIterations = 1): Retry | undefined {
  const how = isFailureCode(code) ? RETRY[code] : 'refused'
  if (how === 'refused' || how === 'new run') return undefined
  const onceFixed = how === 'once fixed'
  return code === 'limit_iterations' ? { maxIterations: 2 * maxIterations, onceFixed } : { onceFixed }
}

/** What to set for a retry after one of an agent's own limits has ended the run, as `path=value`: twice as much. */
export function raised(
  code: string | undefined,
  { cost, tokens, wallTimeMs }: Limits,
): { retryWith?: string } {
  if (code === 'limit_cost' && cost) return { retryWith: `limits.cost=${Number((2 * cost).toPrecision(12))}` }
  if (code === 'limit_tokens' && tokens) return { retryWith: `limits.tokens=${2 * tokens}` }
  if (code !== 'limit_wall_time' || !wallTimeMs) return {}
  return { retryWith: `limits.wall_time=${wallTimeInWords(2 * wallTimeMs)}` }
}

/** True for a run that can neither be retried nor go on with a message. */
export function needsNewRun(code: string | undefined): boolean {
  return isFailureCode(code) && RETRY[code] === 'new run'
}

/** A run's failure as its `ENGINE_END` tells it, for a replay that ends in the same place. */
export function failureOfEnd({ reason_code: code, reason }: EngineEnd, iteration: number): Failure {
  const reasonCode = isFailureCode(code) ? code : 'internal'
  return { status: 'FAILED', reasonCode, reason: reason ?? reasonCode, iteration }
}

function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(RETRY, code)
}

/** The failure that the last engine journaled before it was killed, without an `ENGINE_END`. */
export function recordedFailure({ failure, answer }: RunSummary): Failure | undefined {
  const { reason_code: reasonCode } = Object(failure?.error_details) as { reason_code?: unknown }
  if (!failure || !isFailureCode(reasonCode)) return undefined
  const { error_message: reason, iteration = 0 } = failure
  return { status: 'FAILED', reason, reasonCode, iteration, ...(answer?.trim() && { partialAnswer: answer }) }
}
