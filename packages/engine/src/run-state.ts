import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import type { Conversation } from '@delta/context/internal'
import type { PatternBudget, PreparedCall } from '@delta/executor'
import type { Credentials } from '@delta/executor/internal'
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
import type { ChatModel, FunctionTool } from '@delta/model'
import type { Failure, Question } from './outcome.js'
import type { CallPlace, Replay } from './replay-port.js'
import type { Snapshots } from './snapshots.js'
import type { WallClock } from './wall-time.js'

/** Everything one engine process needs to drive one run; all of it comes from files and options. */
export interface RunState {
  readonly run: Run
  readonly agent: Agent
  readonly model: ChatModel
  /** Says what an answer of the model cost. */
  readonly priceAnswer: PriceAnswer
  /** The end of the run, once a limit of tokens or dollars is reached. To be asked before each request. */
  readonly overspent: () => Promise<Failure | undefined>
  /** Watches the time that the run may work. */
  readonly clock: WallClock
  /** True when an earlier engine drove this run, and may have left something open. */
  readonly resumed: boolean
  /** The definitions of the tools, as each request carries them. */
  readonly tools: readonly FunctionTool[]
  /** Number of the next iteration, from the journal. */
  readonly firstIteration: number
  readonly lastAllowedIteration: number
  /** The limit of iterations after a message. */
  readonly maxIterations: number
  /** The directory of the topmost run, which knows of all runs below it. */
  readonly rootRun: string
  /** Who this run is among all runs in the world, in each of its engines. Not a secret. */
  readonly identity: string
  /** The engine's keys: for commands that list them in `pass_env`, for sub-agents, and for redaction. */
  readonly credentials: Credentials
  /** The environment of commands, without credentials and without each command's own variables: for those, see `environmentOf`. */
  readonly environment: NodeJS.ProcessEnv
  /** Time between TERM and KILL of a stopped command. Milliseconds. */
  readonly graceMs: number
  /** Tokens of secrets from before this engine began. One whose value is not in `secrets/` was erased. */
  readonly earlierSecretTokens: ReadonlySet<string>
  /** The run's events as the context reads them, incrementally. */
  readonly conversation: Conversation
  /** Warnings for the agent's author that this engine has emitted. */
  readonly warnings: Set<string>
  /** Stops the run: a person, or the limit of its time. */
  readonly signal: AbortSignal
  /** Keeps the files of the workspace; undefined where the agent does not ask for it. */
  readonly snapshots: Snapshots | undefined
  /** What is taken from the record of another run; undefined for a run of its own. */
  readonly replay: Replay | undefined
  /** Makes the matcher of each call. The patterns of one answer may take a second together. */
  readonly matcher: PatternBudget
  /** The answer to `ask_human`, or the decision on one waiting command, that this engine was started with. */
  readonly reply: Reply | undefined
  /** Tools for which a person answered `always`, for this process only: the journal records it, but is not consulted. */
  readonly alwaysAllowed: Set<string>
  /** Asks the person at the terminal, if there is one. Resolves to undefined at the end of input. */
  readonly ask: ((question: Question) => Promise<string | undefined>) | undefined
  /** True to emit the model's text as it streams. */
  readonly stream: boolean
  readonly emit: (event: EngineEvent) => void
}

/** An answer of a model, as far as it says what it cost. */
interface Answer {
  usage?: unknown
  model?: string | undefined
  waitedMs?: number | undefined
}

export type PaidFields = Pick<
  Thought,
  'usage' | 'tokens' | 'model' | 'provider' | 'price' | 'waited_ms' | 'replayed'
>

/** Says what an answer cost, as its event keeps it. The shipped prices are loaded with the first answer of a server. */
export type PriceAnswer = (answer: Answer) => Promise<PaidFields>

/** Values of the variables that templates and `context.yaml` may use. */
export function variablesOf(state: RunState): { AGENT_HOME: string; CWD: string; RUN_DIR: string } {
  const { workDirectory: CWD, directory: RUN_DIR } = state.run
  if (state.replay?.variables) return state.replay.variables
  return { AGENT_HOME: state.agent.home ?? CWD, CWD, RUN_DIR } // without a directory, nothing names it
}

/** The environment of a command that starts now: it knows until when it may run. */
export function environmentOf({ environment, clock }: RunState): NodeJS.ProcessEnv {
  const deadline = clock.deadline()
  return deadline === undefined ? environment : { ...environment, DELTA_DEADLINE: String(deadline) }
}

/** The record of the running generator or token counter of `context.yaml`, which is not in the journal. */
export function generatorRecordPath({ run }: RunState): string {
  return join(run.directory, 'io', 'generator.json')
}

/** Emits a warning for the agent's author, once a process. `ENGINE_END` repeats it. */
export function warnAuthor({ warnings, emit }: RunState, message: string | undefined): void {
  if (message === undefined || warnings.has(message)) return
  warnings.add(message)
  emit({ kind: 'notice', message })
}

/**
 * Appends to the journal and emits the events. They may not be on disk yet: call `state.run.journal.sync()` before anything
 * leaves the process.
 */
export function record(state: RunState, ...events: NewEvent[]): JournalEvent[] {
  const stored = state.run.journal.append(...events)
  for (const event of stored) state.emit({ kind: 'journal', event })
  return stored
}

/** Which call of the last answer it is. */
export function placeOf({ run }: RunState, { action_id: id }: Pick<Call, 'action_id'>): CallPlace {
  const { tool_calls: calls = [], iteration = 0 } = run.summary().lastThought ?? {}
  return { iteration, index: calls.findIndex(({ action_id }) => action_id === id) }
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

/** The events since the start of the last iteration with a thought; all events when no iteration has one. */
export function lastIterationOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const last = events.findLast(({ type }) => type === 'THOUGHT')
  if (last === undefined) return events
  return events.slice(events.findIndex((event) => iterationOf(event) === iterationOf(last)))
}

function iterationOf(event: StoredEvent & { iteration?: unknown }): unknown {
  return event.iteration
}

/** What the engine passes to `onEvent`. */
export type EngineEvent =
  /** An event was appended to the journal; its `type` determines its fields. */
  | { kind: 'journal'; event: JournalEvent }
  /** An earlier engine left this open, and it is settled next: a call that had begun, or a question that now has its answer. */
  | { kind: 'open'; event: ActionRequest | HumanInputRequest }
  /** A piece of the model's text, as it streams; the whole follows as a `THOUGHT`. */
  | { kind: 'delta'; iteration: number; content: string }
  /** A piece of the model's reasoning, as it streams. It may come between pieces of the text. */
  | { kind: 'reasoning'; iteration: number; content: string }
  /** A message for a person that is not in the journal. */
  | { kind: 'notice'; message: string }

/** A person's input to a waiting run: an answer to `ask_human`, or a decision on the command with this request id. */
export type Reply = { kind: 'answer'; text: string } | { kind: 'approve' | 'deny'; requestId: string }

/** One tool call of a thought, with its id in the journal. */
export type Call = Thought['tool_calls'][number]

/** A tool call that has passed lookup, validation and policy. */
export type ReadyCall = Exclude<PreparedCall, { decision: 'refuse' }>
