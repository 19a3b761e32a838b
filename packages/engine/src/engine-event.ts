import type { ActionRequest, HumanInputRequest, JournalEvent } from '@delta/journal/runs'

/** What the engine reports during a run. It prints nothing itself. */
export type EngineEvent =
  /** A line was appended to the journal; its `type` tells which fields it has. */
  | { kind: 'journal'; event: JournalEvent }
  /** What an earlier engine left open, and is settled next: a call that had begun, or a question whose answer has come. */
  | { kind: 'open'; event: ActionRequest | HumanInputRequest }
  /** A piece of the model's answer, as it streams; the whole follows as a `THOUGHT`. */
  | { kind: 'delta'; iteration: number; content: string }
  /** A piece of the model's reasoning, as it streams. It may come between pieces of the answer. */
  | { kind: 'reasoning'; iteration: number; content: string }
  /** Something a person should know that is not part of the agent's memory. */
  | { kind: 'notice'; message: string }
