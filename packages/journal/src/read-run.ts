import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isJournalError, JournalError } from './errors.js'
import { holderState } from './holder.js'
import { readLease } from './lease-file.js'
import { streamJournal } from './read.js'
import { asReadError } from './read-error.js'
import { journalPath, runPaths } from './run-paths.js'
import { type Owner, type RunSummary, summarizeRun } from './run-summary.js'
import { summarizer } from './summary.js'

/**
 * Reads a run from its journal. Writes nothing, and needs no `metadata.json`.
 *
 * @param options.tolerant - Report damage, and files that cannot be read, in `problem` instead of throwing; the rest is
 *   what stood before it.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function readRun(
  runDirectory: string,
  { tolerant = false }: { tolerant?: boolean } = {},
): Promise<RunSummary> {
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const fold = summarizer()
  const damage = await readInto(fold.add, journalPath(directory), tolerant)
  const { owner, problem = damage } = readOwnerOr(directory, tolerant)
  return { ...summarizeRun(directory, fold, owner), ...(problem !== undefined && { problem }) }
}

async function readInto(
  add: ReturnType<typeof summarizer>['add'],
  path: string,
  tolerant: boolean,
): Promise<string | undefined> {
  try {
    for await (const event of streamJournal(path)) add(event)
    return undefined
  } catch (error) {
    if (tolerant && isJournalError(error)) return error.message
    throw error
  }
}

function readOwnerOr(directory: string, tolerant: boolean): { owner?: Owner | undefined; problem?: string } {
  try {
    return { owner: readOwner(directory) }
  } catch (cause) {
    const error = asReadError(cause, runPaths(directory).lease)
    if (tolerant && isJournalError(error)) return { problem: error.message }
    throw error
  }
}

function readOwner(directory: string): Owner | undefined {
  const lease = readLease(runPaths(directory).lease)
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
