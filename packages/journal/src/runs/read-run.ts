import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isJournalError, JournalError } from '../errors.js'
import { asReadError } from '../files/read-error.js'
import { readLease, writesWithoutLease } from '../lease/lease.js'
import { inspectJournal } from '../read/inspect.js'
import { readBatches } from '../read/read-batches.js'
import { journalPath, runPaths } from '../run-paths.js'
import { lostBeginning } from './lost-beginning.js'
import { type Owner, type RunSummary, summarizeRun } from './run-summary.js'
import { type Summarizer, summarizer } from './summary.js'

/** Inspecting a journal takes all of it into memory. */
const LARGEST_INSPECTED_BYTES = 64 * 1024 * 1024

/**
 * Reads a run from its journal. Writes nothing, and needs no `metadata.json`.
 *
 * @param options.tolerant - Report damage, and files that cannot be read, in `problem` instead of throwing; the rest is
 *   what the whole lines say (of a journal above 64 MiB, those well before the damage).
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function readRun(
  runDirectory: string,
  options: { tolerant?: boolean | undefined } = {},
): Promise<RunSummary> {
  const { tolerant = false } = options
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const { fold, damage } = await foldJournal(journalPath(directory), tolerant)
  const { owner = ownerWithoutLease(directory, fold), problem = damage } = readOwnerOr(directory, tolerant)
  const summary = summarizeRun(directory, fold, owner)
  const lost = tolerant || summary.status !== 'EMPTY' ? undefined : lostBeginning(directory, fold.summary)
  if (lost) throw lost
  return { ...summary, ...(problem !== undefined && { problem }) }
}

async function foldJournal(
  path: string,
  tolerant: boolean,
): Promise<{ fold: Summarizer; damage?: JournalError | undefined }> {
  const fold = summarizer()
  try {
    for await (const batch of readBatches(path, 0, tolerant ? { mostOldBytes: LARGEST_INSPECTED_BYTES } : {}))
      for (const event of batch) fold.add(event)
    return { fold }
  } catch (error) {
    if (!tolerant || !isJournalError(error)) throw error
    const isDamaged = error.code === 'ERR_JOURNAL_CORRUPT' && statSync(path).size <= LARGEST_INSPECTED_BYTES
    return { fold: isDamaged ? foldReadable(path) : fold, damage: error }
  }
}

/** Reading stops at damage a whole piece of the file early; this looks at each line of it. */
function foldReadable(path: string): Summarizer {
  const fold = summarizer()
  for (const { event } of inspectJournal(path).lines) if (event) fold.add(event)
  return fold
}

function readOwnerOr(
  directory: string,
  tolerant: boolean,
): { owner?: Owner | undefined; problem?: JournalError } {
  try {
    return { owner: readOwner(directory) }
  } catch (cause) {
    const error = asReadError(cause, runPaths(directory).lease)
    if (tolerant && isJournalError(error)) return { problem: error }
    throw error
  }
}

function readOwner(directory: string): Owner | undefined {
  const { record, state } = readLease(runPaths(directory).lease) ?? {}
  if (!record || state === 'free') return undefined
  return { pid: record.pid, host: record.host, alive: state === 'alive' || state === 'remote-fresh' }
}

function ownerWithoutLease(directory: string, { summary }: Summarizer): Owner | undefined {
  const { pid = null, hostname = '' } = summary.lastStart?.engine ?? {}
  const isWritten = !summary.end && pid !== null && writesWithoutLease(pid, journalPath(directory))
  return isWritten ? { pid, host: hostname, alive: true } : undefined
}

export function notFound(directory: string): JournalError {
  return new JournalError(
    'ERR_RUN_NOT_FOUND',
    `${directory}: There is no such run. See which there are in ${dirname(directory)}`,
    { path: directory, wayOut: 'list' },
  )
}
