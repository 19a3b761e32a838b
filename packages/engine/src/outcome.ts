import type { Effects } from '@delta/executor'
import type { RunStatus, Usage } from '@delta/journal'

/** How a run's present life ends. `RUNNING` is not an ending. */
export type Outcome =
  | { status: 'COMPLETED'; answer: string; reason?: string }
  | { status: 'FAILED'; reason: string; partialAnswer?: string; needsMending?: true; maxIterations?: number }
  | { status: 'INTERRUPTED'; reason: string }
  | { status: 'WAITING_FOR_INPUT'; question: Question }

/** What one step of a cycle yields: its value, or the end of the run. */
export type Step<Value> = { value: Value } | { stopped: Outcome }

/** What a person is asked: an answer to `ask_human`, or a yes or no to one exact command. */
export interface Question {
  requestId: string
  prompt: string
  inputType: 'text' | 'password' | 'confirmation'
  sensitive: boolean
  /** The command to be approved, as it would be typed; undefined for `ask_human`. */
  command?: string
  /** The tool whose command it is, why it takes a person, and what the tool says of its effects; with `command`. */
  tool?: string
  reasons?: readonly string[]
  effects?: Effects
}

/** What `runAgent` and `continueRun` resolve to. */
export interface RunResult {
  runId: string
  /** Absolute path of `.delta/<run_id>`. */
  runDirectory: string
  status: Exclude<RunStatus, 'RUNNING'>
  /** The model's last words; only when `status` is `COMPLETED`. */
  answer?: string
  /**
   * Why the run did not complete, when `FAILED` or `INTERRUPTED`; when `COMPLETED`, what is odd about its answer, if
   * anything is.
   */
  reason?: string
  /** What there is of an answer that was cut off; only when `FAILED`. */
  partialAnswer?: string
  /**
   * Trying again fails again until something outside the run is put right: the key, the address, the request; with
   * `MAX_ITERATIONS`, that `context.yaml` has no journal source.
   */
  needsMending?: true
  /** How many cycles a message may take; only when they are what there were not enough of (`MAX_ITERATIONS`). */
  maxIterations?: number
  /** What waits for a person; only when `WAITING_FOR_INPUT`. */
  question?: Question
  /** Number of the last cycle, over all resumes. */
  iterations: number
  usage: Usage
}

/** The outcome of a run that was told to stop; the reason is the signal's, usually its name. */
export function interrupted(signal: AbortSignal): Outcome {
  return { status: 'INTERRUPTED', reason: String(signal.reason ?? 'aborted') }
}
