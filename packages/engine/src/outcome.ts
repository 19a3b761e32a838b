import type { Effects } from '@delta/executor'
import type { Usage } from '@delta/journal'

/** How a run's present life ends. */
export type Outcome = Completed | Failed | Interrupted | Waiting

interface Completed {
  status: 'COMPLETED'
  /** The model's last words. */
  answer: string
  /** What is odd about them, if anything is. */
  reason?: string
}

interface Failed {
  status: 'FAILED'
  reason: string
  /** What there is of an answer that was cut off. */
  partialAnswer?: string
  /**
   * Trying again fails again until something outside the run is put right: the key, the address, the request, what the
   * context is built of; with `MAX_ITERATIONS`, that `context.yaml` has no journal source.
   */
  needsMending?: true
  /** No message takes it further: what it would be sent is not in the recording that it replays. */
  needsNewRun?: true
  /** How many cycles a message may take; only when they are what there were not enough of (`MAX_ITERATIONS`). */
  maxIterations?: number
}

interface Interrupted {
  status: 'INTERRUPTED'
  /** The signal's, usually its name. */
  reason: string
}

interface Waiting {
  status: 'WAITING_FOR_INPUT'
  /** What waits for a person. */
  question: Question
}

/** What one step of a cycle yields: its value, or the end of the run. */
export type Step<Value> = { value: Value } | { stopped: Outcome }

/** What a person is asked: an answer to `ask_human`, or a yes or no to one exact command. */
export interface Question {
  /** What a `Reply` with a decision names. */
  requestId: string
  /** The question. A model's words may hold control characters: `showControls` of `@delta/executor` makes them fit for a terminal. */
  prompt: string
  /** `confirmation` is answered with yes or no: see `isYesOrNo`. A `password` is to be typed unseen. */
  inputType: 'text' | 'password' | 'confirmation'
  /** True: the answer is a secret; the journal gets a token in its place, and the model never sees it. */
  sensitive: boolean
  /** The command to be approved, as it would be typed; undefined for `ask_human`. */
  command?: string
  /** The tool whose command it is, why it takes a person, and what the tool says of its effects; with `command`. */
  tool?: string
  reasons?: readonly string[]
  effects?: Effects
}

/** What `runAgent` and `continueRun` resolve to: how the run ended, and by its `status` what comes with that. */
export type RunResult = EndedRun & AllKeys<Outcome>

interface EndedRun {
  runId: string
  /** Absolute path of `.delta/<run_id>`. */
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
  return { status: 'INTERRUPTED', reason: String(signal.reason ?? 'aborted') }
}
