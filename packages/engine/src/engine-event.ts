import type { ActionRequest, StoredEvent } from '@delta/journal'

/** What the engine reports during a run. It prints nothing itself. */
export type EngineEvent =
  /** A line was appended to the journal. */
  | { kind: 'journal'; event: StoredEvent }
  /** The `ACTION_REQUEST` of a call that an earlier engine began and left without a result; that is settled next. */
  | { kind: 'open'; event: ActionRequest }
  /** A piece of the model's answer, as it streams; the whole follows as a `THOUGHT`. */
  | { kind: 'delta'; iteration: number; content: string }
  /** Something a person should know that is not part of the agent's memory. */
  | { kind: 'notice'; message: string }
