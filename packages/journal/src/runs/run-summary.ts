import { basename } from 'node:path'
import type { JournalError } from '../errors.js'
import type { EngineStart, ErrorEvent, HumanInputRequest, Thought } from '../events/event.js'
import type { PendingCall } from '../events/pending-calls.js'
import { lostBeginning } from './lost-beginning.js'
import { deriveMetadata, type RunMetadata } from './metadata.js'
import type { Summarizer, Usage } from './summary.js'

/** Who holds a run, unless it was released. */
export interface Owner {
  pid: number
  /** The machine it runs on. */
  host: string
  /** False when it is gone. One that cannot be seen from here (another machine, a container) is gone after half a minute of silence. */
  alive: boolean
}

/** Everything a run's journal and lease say about it. */
export interface RunSummary {
  /** The name of its directory. */
  runId: string
  /** Its path. */
  directory: string
  /** That of `metadata`. */
  status: RunMetadata['status']
  metadata: RunMetadata
  /** The model of its last start, or the provider of an agent that names no model; null where the journal does not say. */
  model: string | null
  /** What its last start set in the agent, as `path=value`. */
  overrides: string[]
  /** Calls of the last THOUGHT without a result, in call order. */
  pendingCalls: PendingCall[]
  /** The highest iteration that has a THOUGHT; 0 when none has. */
  lastIteration: number
  /** How many iterations had a THOUGHT since the user last spoke. */
  iterationsSinceMessage: number
  usage: Usage
  /** Absent after the lease was released. */
  owner?: Owner
  /** The question still open. */
  humanRequest?: HumanInputRequest
  /** The content of a last THOUGHT without calls, unless the user has spoken or the run was retried since. */
  answer?: string
  /** True when the user said something after the model last did. */
  userSpokeLast: boolean
  /** What a person allowed at the run's first start, or when they took it over: it holds for whoever continues the run. */
  allowed?: NonNullable<EngineStart['allowed']>
  /** What the model said last. */
  lastThought?: Thought
  /** The code of the error that a run failed with, where it is one with a code: why `metadata.error` says what it says. */
  errorCode?: string
  /** The ERROR with which the run failed, if its engine was killed before the ENGINE_END and the user has not spoken since. */
  failure?: ErrorEvent
  /** Why the journal could not be read to its end, or is without its beginning. */
  problem?: JournalError
}

/** What a folded journal and its owner add up to. */
export function summarizeRun(directory: string, fold: Summarizer, owner: Owner | undefined): RunSummary {
  const { summary } = fold
  const metadata = deriveMetadata(basename(directory), summary, owner?.alive ?? false)
  const { lastThought, humanRequest, lastErrorCode, messageSinceThought, retriedSinceThought, failure } =
    summary
  const isUsed = !messageSinceThought && !retriedSinceThought
  const lost = metadata.status === 'EMPTY' ? lostBeginning(directory, summary) : undefined
  return {
    runId: basename(directory),
    directory,
    status: metadata.status,
    metadata,
    model: modelIn(summary.lastStart?.config),
    overrides: [...(summary.lastStart?.overrides ?? [])],
    pendingCalls: fold.pendingCalls(),
    lastIteration: summary.lastIteration,
    iterationsSinceMessage: summary.iterationsSinceMessage,
    usage: { ...summary.usage },
    userSpokeLast: messageSinceThought,
    ...(owner && { owner }),
    ...(humanRequest && { humanRequest }),
    ...(lastThought?.tool_calls.length === 0 && isUsed && { answer: lastThought.content }),
    ...(summary.allowed && { allowed: summary.allowed }),
    ...(lastThought && { lastThought }),
    ...(metadata.status === 'FAILED' && lastErrorCode !== undefined && { errorCode: lastErrorCode }),
    ...(failure && { failure }),
    ...(lost && { problem: lost }),
  }
}

/** The configuration is the program's own; v1.1 called the model's part `llm_config`. */
function modelIn(config: unknown): string | null {
  const { llm, llm_config: old } = Object(config) as { llm?: unknown; llm_config?: unknown }
  const { model, model_name: oldName, provider } = Object(llm ?? old) as Record<string, unknown>
  return [model, oldName, provider].find((name) => typeof name === 'string') ?? null
}
