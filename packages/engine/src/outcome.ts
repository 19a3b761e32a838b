import type { Effects } from '@delta/executor'
import type { Usage } from '@delta/journal/runs'

/** How this engine's part of a run ends. */
export type Outcome = Completed | Failure | Interrupted | Waiting

/** A failed run, and what its `ERROR` event says besides. */
export interface Failure extends Failed {
  /** The cycle in which it failed. */
  iteration: number
  details?: object
}

/** An answer that can be a mistake of the model or its server: `accept_empty` of the agent decides. */
export type DoubtCode = 'empty_answer' | 'unparsed_tool_call' | 'missing_tool_call'

/** Why a run failed, for programs. */
export type FailureCode =
  | DoubtCode
  | 'limit_iterations'
  | 'context_overflow'
  | 'content_filter'
  | 'cut_off'
  | 'model_refused'
  | 'hook_stopped'
  | 'critical_tool'
  | 'provider_unavailable'
  | 'provider_refused'
  | 'provider_answer'
  | 'context_source'
  | 'replay_mismatch'
  | 'configuration'
  | 'internal'

interface Completed {
  status: 'COMPLETED'
  reasonCode: 'answered' | DoubtCode
  /** The model's last words. */
  answer: string
  /** What is wrong with them, if anything: they are empty, say. */
  reason?: string
}

interface Failed {
  status: 'FAILED'
  reasonCode: FailureCode
  /** For people. */
  reason: string
  /** The text of an answer that was cut off or is not one. */
  partialAnswer?: string
  /**
   * A retry fails again until something outside the run is fixed: the key, the address, the request, the sources of the
   * context; with `limit_iterations`, the journal source that `context.yaml` lacks.
   */
  needsMending?: true
  /** How many cycles a message may take; only with `limit_iterations`. */
  maxIterations?: number
}

interface Interrupted {
  status: 'INTERRUPTED'
  reasonCode: 'signal'
  /** The signal's, usually its name. */
  reason: string
}

interface Waiting {
  status: 'WAITING_FOR_INPUT'
  reasonCode: 'question' | 'approval'
  /** What waits for a person. */
  question: Question
}

/** What one step of a cycle yields: its value, or the end of the run. */
export type Step<Value> = { value: Value } | { stopped: Outcome }

/** What a person is asked: an answer to `ask_human`, or a yes or no to one exact command. */
export interface Question {
  /** What a `Reply` with a decision names. */
  requestId: string
  /** The question. A model's words may hold control characters: `showControls` of `@delta/executor` makes them safe for a terminal. */
  prompt: string
  /** `confirmation` is answered with yes or no: see `isYesOrNo`. A `password` is to be typed unseen. */
  inputType: 'text' | 'password' | 'confirmation'
  /** True: the answer is a secret; the journal gets a token in its place, and the model never sees it. */
  sensitive: boolean
  /** The command to be approved, as it would be typed; undefined for `ask_human`. */
  command?: string
  /** With `command`, of a tool in a sandbox: the whole command line that is started, as it would be typed. */
  started?: string | undefined
  /** With `command`: its tool, why it needs approval, and the effects that the tool declares. */
  tool?: string
  reasons?: readonly string[]
  effects?: Effects
}

/** What `runAgent` and `continueRun` resolve to. The `status` says how the run ended, and which other fields are set. */
export type RunResult = EndedRun & AllKeys<Completed | Failed | Interrupted | Waiting>

interface EndedRun {
  runId: string
  /** Absolute path of `.delta/<run_id>`, or of the run in the `runsDirectory`. */
  runDirectory: string
  /** Number of the last cycle, over all resumes. */
  iterations: number
  usage: Usage
}

/** Each member also knows the keys of the others, as absent: `result.answer` may be asked for without looking at `status`. */
type AllKeys<
  Union,
  Keys extends PropertyKey = Union extends unknown ? keyof Union : never,
> = Union extends unknown ? Union & { [Key in Exclude<Keys, keyof Union>]?: undefined } : never

/** The outcome of a run that was told to stop; the reason is the signal's, usually its name. */
export function interrupted(signal: AbortSignal): Outcome {
  return { status: 'INTERRUPTED', reasonCode: 'signal', reason: String(signal.reason ?? 'aborted') }
}
