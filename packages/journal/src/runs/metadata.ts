import type { RunStatus } from '../events/event.js'
import type { JournalSummary, Usage } from './summary.js'

/** `metadata.json`: a cache of the journal, for people and for `jq`. A status of `EMPTY` is never written to disk. */
export interface RunMetadata {
  /** The name of its directory when it began. */
  run_id: string
  /** The name of its workspace. Null, here and below, where the journal does not say. */
  workspace_id: string | null
  agent_name: string | null
  /** `INTERRUPTED` also when its owner is gone without a word. `EMPTY`: it has no first message. */
  status: RunStatus | 'EMPTY'
  /** Of the first event: ISO 8601, UTC. */
  created_at: string | null
  /** Of the last event. */
  updated_at: string | null
  /** Null while the run goes on. */
  end_time: string | null
  /** The task. */
  initial_message: string | null
  /** The highest that has a THOUGHT; 0 when none has. */
  iterations: number
  /** Of the last start: cycles after a message before the run fails. */
  max_iterations: number | null
  /** Why, when the status is FAILED. */
  error: string | null
  /** How the run ended, for programs: of its ENGINE_END; `killed` when it has none and nobody writes it. */
  reason_code: string | null
  /** Absolute, as of the first start; so is `work_dir`. */
  agent_home: string | null
  work_dir: string | null
  /** The run whose tool this agent is. */
  parent_run: string | null
  usage: Usage
  /** Of the last engine, alive or not. */
  pid: number | null
  /** The machine of the last engine. */
  host: string | null
}

/** Derives every field from the journal, and from the lease whether its owner lives. */
export function deriveMetadata(runId: string, summary: JournalSummary, ownerAlive: boolean): RunMetadata {
  const { firstStart, lastStart, end } = summary
  const status = deriveStatus(summary, ownerAlive)
  return {
    run_id: firstStart?.run_id ?? runId,
    workspace_id: firstStart?.workspace_id ?? null,
    agent_name: firstStart?.agent_name ?? null,
    status,
    created_at: summary.firstTimestamp ?? null,
    updated_at: summary.lastTimestamp ?? null,
    end_time: end?.timestamp ?? null,
    initial_message: summary.firstMessage ?? firstStart?.task ?? null,
    iterations: summary.lastIteration,
    max_iterations: lastStart?.max_iterations ?? null,
    error: status === 'FAILED' ? (end?.reason ?? summary.lastError ?? null) : null,
    reason_code: end ? (end.reason_code ?? null) : status === 'INTERRUPTED' ? 'killed' : null,
    agent_home: firstStart?.agent_home ?? null,
    work_dir: firstStart?.work_dir ?? null,
    parent_run: firstStart?.parent_run ?? null,
    usage: summary.usage,
    pid: lastStart?.engine?.pid ?? null,
    host: lastStart?.engine?.hostname ?? null,
  }
}

/** Without a first message a run was announced to nobody, and nothing was started in it. */
function deriveStatus(summary: JournalSummary, ownerAlive: boolean): RunStatus | 'EMPTY' {
  const { firstStart, firstMessage, lastThought, end } = summary
  if (firstStart === undefined || (firstMessage ?? lastThought) === undefined) return 'EMPTY'
  if (end) return end.status
  return ownerAlive ? 'RUNNING' : 'INTERRUPTED'
}
