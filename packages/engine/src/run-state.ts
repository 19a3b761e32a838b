import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import type { Conversation } from '@delta/context/internal'
import type { PreparedCall } from '@delta/executor/internal'
import {
  type ActionRequest,
  type HumanInputRequest,
  isKnownEvent,
  type JournalEvent,
  type NewEvent,
  type Run,
  type StoredEvent,
  type Thought,
} from '@delta/journal/runs'
import type { ChatModel } from '@delta/model'
import type { Question } from './outcome.js'

/** Everything one engine process needs to move one run; all of it comes from files and options. */
export interface RunState {
  readonly run: Run
  readonly agent: Agent
  readonly model: ChatModel
  /** Everything the user said, a message a line; the `condition`s of `context.yaml` read it. */
  readonly task: string
  /** Number of the next cycle, from the journal. */
  readonly firstIteration: number
  readonly lastAllowedIteration: number
  /** How many cycles a message may take. */
  readonly maxIterations: number
  /** The engine's credentials by name, for commands that list them in `pass_env` and for redaction. */
  readonly credentials: Readonly<Record<string, string>>
  /** The environment of commands: without credentials, with the base set; before each command's own variables. */
  readonly environment: NodeJS.ProcessEnv
  /** How long a stopped command has before it is killed. Milliseconds. */
  readonly graceMs: number
  /** Stand for what was asked of a person before this engine began. A value that is not in `secrets/` any more was erased. */
  readonly earlierSecretTokens: ReadonlySet<string>
  /** The run's events as the context reads them; looks only at what is new. */
  readonly conversation: Conversation
  /** What this engine has told the author, once each. */
  readonly warnings: Set<string>
  readonly signal: AbortSignal
  /** What this engine was started with: an answer to `ask_human`, or a decision on one waiting command. */
  readonly reply: Reply | undefined
  /** Tools that a person allows always: while this process runs the run. The journal tells of it, and is never asked. */
  readonly alwaysAllowed: Set<string>
  /** Asks the person at the terminal; undefined when nobody is there. Resolves to undefined at end of input. */
  readonly ask: ((question: Question) => Promise<string | undefined>) | undefined
  /** True to emit the model's words as they arrive. */
  readonly stream: boolean
  readonly emit: (event: EngineEvent) => void
}

/** Values of the variables that templates and `context.yaml` may use. */
export function variablesOf(state: RunState): { AGENT_HOME: string; CWD: string; RUN_DIR: string } {
  return { AGENT_HOME: state.agent.home, CWD: state.run.workDirectory, RUN_DIR: state.run.directory }
}

/** Where it is recorded which command of `context.yaml` is running, a generator or the token counter: no journaled call tells of it. */
export function generatorNote({ run }: RunState): string {
  return join(run.directory, 'io', 'generator.json')
}

/** Tells the author what to change, once for all calls that need it. It is in `ENGINE_END`, too. */
export function warnAuthor({ warnings, emit }: RunState, message: string | undefined): void {
  if (message === undefined || warnings.has(message)) return
  warnings.add(message)
  emit({ kind: 'notice', message })
}

/**
 * Appends to the journal and tells the listener. The events may not be on disk yet:
 * call `state.run.journal.sync()` before anything leaves the process.
 */
export function record(state: RunState, ...events: NewEvent[]): JournalEvent[] {
  const stored = state.run.journal.append(...events)
  for (const event of stored) state.emit({ kind: 'journal', event })
  return stored
}

/** The last event of a type that belongs to a call. */
export function lastEventOf<Type extends 'ACTION_REQUEST' | 'HUMAN_INPUT_RECEIVED'>(
  events: readonly StoredEvent[],
  type: Type,
  actionId: string,
): Extract<JournalEvent, { type: Type }> | undefined {
  return events.findLast(
    (event): event is Extract<JournalEvent, { type: Type }> =>
      isKnownEvent(event) && event.type === type && 'action_id' in event && event.action_id === actionId,
  )
}

/** From the first event of the last iteration that has a thought on; all events where none has. */
export function lastIterationOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const thought = events.findLastIndex(({ type }) => type === 'THOUGHT')
  let first = Math.max(thought, 0)
  for (let index = first; index >= 0; index--) {
    const iteration = iterationOf(events[index])
    if (iteration === undefined) continue
    if (iteration !== iterationOf(events[thought])) break
    first = index
  }
  return thought === -1 ? events : events.slice(first)
}

function iterationOf(event: (StoredEvent & { iteration?: unknown }) | undefined): unknown {
  return event?.iteration
}

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

/** What a person tells a waiting run: an answer to `ask_human`, or a decision on the command with this request id. */
export type Reply = { kind: 'answer'; text: string } | { kind: 'approve' | 'deny'; requestId: string }

/** One call of a thought, with the id under which the journal knows it. */
export type Call = Thought['tool_calls'][number]

/** A call whose command has passed lookup, validation and policy. */
export type ReadyCall = Exclude<PreparedCall, { decision: 'refuse' }>
