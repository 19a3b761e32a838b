import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { asReadError, isJournalError, JournalError } from './errors.js'
import { inspectJournal } from './inspect.js'
import { streamJournal } from './read.js'
import { runEventSchema } from './events.js'
import { foldRun, type Owner, type RunFold, type RunSummary } from './fold.js'
import { readLease, writesWithoutLease } from './lease.js'
import { journalPath, runPaths } from './paths.js'

/**
 * Reads a run from its journal. Writes nothing, and needs no `metadata.json`.
 *
 * @param options.tolerant - Report damage, and files that cannot be read, in `problem` instead of throwing; the rest is
 *   what the whole lines say.
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
  const summary = fold.summary(directory, owner)
  if (!tolerant && summary.problem) throw summary.problem
  return { ...summary, ...(problem && { problem }) }
}

/** Reading stops at damage a whole piece of the file early; then each line of it is looked at. */
async function foldJournal(
  path: string,
  tolerant: boolean,
): Promise<{ fold: RunFold; damage?: JournalError }> {
  const fold = foldRun()
  try {
    for await (const event of streamJournal(path, { schema: runEventSchema })) fold.add(event)
    return { fold }
  } catch (error) {
    if (!tolerant || !isJournalError(error)) throw error
    return { fold: error.code === 'ERR_JOURNAL_CORRUPT' ? foldWholeLines(path) : fold, damage: error }
  }
}

function foldWholeLines(path: string): RunFold {
  const fold = foldRun()
  for (const { event } of inspectJournal(path, runEventSchema).lines) if (event) fold.add(event)
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

function ownerWithoutLease(directory: string, fold: RunFold): Owner | undefined {
  const { end_time, pid, host } = fold.summary(directory, undefined).metadata
  if (end_time !== null || pid === null || !writesWithoutLease(pid, journalPath(directory))) return undefined
  return { pid, host: host ?? '', alive: true }
}

export function notFound(directory: string): JournalError {
  return new JournalError(
    'ERR_RUN_NOT_FOUND',
    `${directory}: There is no such run. See which there are in ${dirname(directory)}`,
    { path: directory, wayOut: 'list' },
  )
}

/** The error for a run that is `EMPTY`: there is nothing to be continued or shown. */
export function neverBegan(directory: string): JournalError {
  const had = existsSync(runPaths(directory).metadata) // it is written after the first events are
  return new JournalError('ERR_RUN_EMPTY', `${directory}: ${had ? JOURNAL_GONE : NEVER_BEGAN}`, {
    path: directory,
    ...(had ? {} : { wayOut: 'start' as const }),
  })
}

const NEVER_BEGAN =
  'This run never began: its first events were not written, and nothing was started in it. Start a new one.'

const JOURNAL_GONE = `The journal of this run is gone, or empty, though the run had begun: its metadata.json is there.
Put journal.jsonl back from a copy, then continue the run; without it the run cannot be continued.`
