import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { JournalError } from './errors.js'
import type { HumanInputRequest } from './event.js'
import { holderState } from './holder.js'
import { readLease } from './lease-file.js'
import { deriveMetadata, type RunMetadata } from './metadata.js'
import { streamJournal } from './read.js'
import { runPaths } from './run-paths.js'
import { type PendingCall, summarizer, type Usage } from './summary.js'

/** Everything a run's journal and lease say about it. */
export interface RunSummary {
  runId: string
  directory: string
  status: RunMetadata['status']
  metadata: RunMetadata
  /** Calls of the last THOUGHT without a result, in call order. */
  pendingCalls: PendingCall[]
  /** The highest iteration that has a THOUGHT; 0 when none has. */
  lastIteration: number
  iterationsSinceMessage: number
  usage: Usage
  /** Who holds the run, unless it was released. */
  owner?: { pid: number; host: string; alive: boolean }
  /** The question still open. */
  humanRequest?: HumanInputRequest
  /** The content of a last THOUGHT without calls, unless the user has spoken since. */
  answer?: string
}

/**
 * Reads a run from its journal. Writes nothing, and needs no `metadata.json`.
 *
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_JOURNAL_CORRUPT`.
 */
export async function readRun(runDirectory: string): Promise<RunSummary> {
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const { add, summary, pendingCalls } = summarizer()
  for await (const event of streamJournal(runPaths(directory).journal)) add(event)

  const owner = readOwner(directory)
  const metadata = deriveMetadata(basename(directory), summary, owner?.alive ?? false)
  const { lastThought, humanRequest, messageSinceThought } = summary
  return {
    runId: metadata.run_id,
    directory,
    status: metadata.status,
    metadata,
    pendingCalls: pendingCalls(),
    lastIteration: summary.lastIteration,
    iterationsSinceMessage: summary.iterationsSinceMessage,
    usage: summary.usage,
    ...(owner && { owner }),
    ...(humanRequest && { humanRequest }),
    ...(lastThought?.tool_calls.length === 0 && !messageSinceThought && { answer: lastThought.content }),
  }
}

function readOwner(directory: string): RunSummary['owner'] {
  const lease = readLease(join(directory, 'lease'))
  if (!lease?.record) return undefined
  const state = holderState(lease, Date.now())
  if (state === 'free') return undefined
  return {
    pid: lease.record.pid,
    host: lease.record.host,
    alive: state === 'alive' || state === 'remote-fresh',
  }
}

export function notFound(directory: string): JournalError {
  return new JournalError(
    'ERR_RUN_NOT_FOUND',
    `${directory}: There is no such run. See which there are in ${dirname(directory)}, or with: delta list-runs`,
    { path: directory },
  )
}
