import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { asReadError, isJournalError, JournalError } from './errors.js'
import { isToday, type StoredEvent } from './events.js'
import { LARGEST_TEXT_BYTES, readText } from './files.js'
import { foldRun, type Owner, type RunFold, type RunSummary } from './fold.js'
import { inspectJournal } from './inspect.js'
import { readLease } from './lease.js'
import { runEventSchema } from './old-formats.js'
import { streamJournal } from './read.js'
import { journalPath, runPaths } from './run-paths.js'
import { isRunId, type RunsPlace, runDirectory, runsDirectoryOf } from './runs-directory.js'
import { isRunOf, readFirstOwn } from './work-directory.js'

/**
 * Reads a run from its journal. Writes nothing, and needs no `metadata.json`.
 *
 * @param options.tolerant - Report damage, and files that cannot be read, in `problem` instead of throwing; the rest is
 *   what the whole lines say.
 * @throws {JournalError} `ERR_RUN_NOT_FOUND`; `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 * @example
 * const { status, answer, usage } = await readRun('.delta/20261120_093000_a1b2c3')
 */
export async function readRun(
  runDirectory: string,
  options: { tolerant?: boolean | undefined } = {},
): Promise<RunSummary> {
  return readRunThrough(runDirectory, { ...options, through: (event) => event })
}

/** Like `readRun`, with what `through` makes of each event in its place. */
export async function readRunThrough(
  runDirectory: string,
  options: { tolerant?: boolean | undefined; through: (event: StoredEvent) => StoredEvent },
): Promise<RunSummary> {
  const { tolerant = false, through } = options
  const directory = resolve(runDirectory)
  if (!existsSync(directory)) throw notFound(directory)
  const { fold, damage } = await foldJournal(journalPath(directory), { tolerant, through })
  const { owner, problem: unreadable } = readOwner(directory, tolerant)
  const unnamed = owner?.alive ? [] : lostAnswers(fold, { directory, tolerant })
  for (const lost of unnamed) fold.add(through(lost))
  const problem = unreadable ?? damage
  const summary = fold.summary(directory, owner)
  if (!tolerant && summary.problem) throw summary.problem
  return { ...summary, ...(problem && { problem }) }
}

/** Reading stops at damage a whole piece of the file early; then each line is looked at, unless that would take too much memory. */
async function foldJournal(
  path: string,
  { tolerant, through }: { tolerant: boolean; through: (event: StoredEvent) => StoredEvent },
): Promise<{ fold: RunFold; damage?: JournalError }> {
  const fold = foldRun()
  try {
    for await (const event of streamJournal(path, { schema: runEventSchema })) fold.add(through(event))
    return { fold }
  } catch (damage) {
    if (!tolerant || !isJournalError(damage)) throw damage
    const isWhole = damage.code === 'ERR_JOURNAL_CORRUPT' && statSync(path).size <= LARGEST_TEXT_BYTES
    if (!isWhole) return { fold, damage }
    const whole = foldRun()
    for (const { event } of inspectJournal(path, runEventSchema).lines) if (event) whole.add(through(event))
    return { fold: whole, damage }
  }
}

/** None of records that cannot be read, where damage is tolerated. */
function lostAnswers(
  fold: RunFold,
  { directory, tolerant }: { directory: string; tolerant: boolean },
): StoredEvent[] {
  try {
    return fold.lostAnswers(directory)
  } catch (error) {
    if (tolerant && isJournalError(error)) return []
    throw error
  }
}

/** The process that holds a run. What cannot be read is thrown, or if `tolerant` the `problem`. */
export function readOwner(
  directory: string,
  tolerant: boolean,
): { owner?: Owner | undefined; problem?: JournalError } {
  const { lease } = runPaths(directory)
  try {
    const { record, state } = readLease(lease) ?? {}
    if (!record || state === 'free') return {}
    return {
      owner: { pid: record.pid, host: record.host, alive: state === 'alive' || state === 'remote-fresh' },
    }
  } catch (cause) {
    const problem = asReadError(cause, lease)
    if (tolerant && isJournalError(problem)) return { problem }
    throw problem
  }
}

export function notFound(directory: string): JournalError {
  return new JournalError(
    'ERR_RUN_NOT_FOUND',
    `${directory}: There is no such run. See which there are in ${dirname(directory)}`,
    { path: directory, wayOut: 'list' },
  )
}

/** The error for a run that is `EMPTY`: there is nothing to be continued or shown. */
export function emptyRunError(directory: string): JournalError {
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

/** Where runs are looked for. */
export interface RunsOfPlace extends RunsPlace {
  /** True: also those of other workspaces. */
  ofAnyWorkspace?: boolean | undefined
}

/**
 * Every run of a workspace, of today's layout and of v1.1's, oldest first. A workspace without `.delta` has no runs, and a
 * directory in `.delta` that holds nothing of a run is not one. A run whose journal is damaged or cannot be read is listed
 * with what its whole lines say and a `problem`.
 *
 * @param options.runsDirectory - Where they are kept. Of those of several workspaces in one directory, only this one's are listed.
 * @param options.ofAnyWorkspace - List those of the others, too.
 * @param options.calledBy - Only the runs that a command of this run started (`parent_run`); the journals of the others
 *   are not read to their end.
 * @throws {JournalError} `ERR_JOURNAL_READ`: the workspace is a file, or its `.delta` cannot be read.
 * @example
 * for (const { runId, status } of await listRuns(process.cwd())) console.log(runId, status)
 */
export async function listRuns(
  workDirectory: string,
  options: RunsOfPlace & { calledBy?: string | undefined } = {},
): Promise<RunSummary[]> {
  const { calledBy } = options
  const runs: RunSummary[] = []
  for (const directory of runDirectoriesOf(workDirectory, options)) {
    if (calledBy !== undefined && !mayBeCalledBy(calledBy, directory)) continue
    const run = await readRun(directory, { tolerant: true }).catch(nothingIfDeleted)
    if (run && (calledBy === undefined || run.metadata.parent_run === calledBy)) runs.push(run)
  }
  return runs.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** The directory of each run of a workspace, in no order. @throws {JournalError} `ERR_JOURNAL_READ`. */
export function runDirectoriesOf(workDirectory: string, options: RunsOfPlace = {}): string[] {
  const today = runsDirectoryOf(workDirectory, options)
  const names = new Set([...runNames(today), ...runNames(join(today, 'runs'))])
  const directories = [...names].map((name) => runDirectory(workDirectory, name, options))
  return options.ofAnyWorkspace ? directories : directories.filter((each) => isRunOf(workDirectory, each))
}

/** The first event names the caller of a run, of a fork the first that is not inherited. When it cannot be read, the whole journal is. */
function mayBeCalledBy(caller: string, directory: string): boolean {
  try {
    const start = readFirstOwn(journalPath(directory))
    return !isToday(start) || (start as { parent_run?: unknown }).parent_run === caller
  } catch {
    return true // reading the run says why
  }
}

/** A run may be deleted after its name was read. */
export function nothingIfDeleted(error: unknown): undefined {
  if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
}

function sortKey({ metadata, runId }: RunSummary): string {
  return `${metadata.created_at ?? ''} ${runId}`
}

function runNames(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true })
    const directories = entries.filter(
      (entry) => (entry.isDirectory() || entry.isSymbolicLink()) && isRunId(entry.name),
    )
    return directories.map(({ name }) => name).filter((name) => isOfRun(join(directory, name)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw asReadError(error, directory)
  }
}

const RUN_PARTS = new Set(['journal.jsonl', 'metadata.json', 'lease', 'io', 'execution'])

/** Whether a directory is that of a run. Computed sources write into directories beside the runs, which hold nothing of one. */
export function isOfRun(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => RUN_PARTS.has(name))
  } catch (error) {
    // One that cannot be read may be a run, and is listed with its problem.
    return !['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

/**
 * The id of the workspace's latest run: the one that `LATEST` (or v1.1's `runs/LATEST`) names. If that is not a run of the
 * workspace (a crash can fall between a run's beginning and its name in `LATEST`), the newest that began and that no other run
 * of the workspace called. Undefined when there is none.
 *
 * @param options.orEmpty - If no run began, the newest that did not: for a caller that can report it.
 * @throws {JournalError} `ERR_JOURNAL_READ`: the workspace is a file, or its `.delta` cannot be read.
 */
export async function latestRunId(
  workDirectory: string,
  options: RunsOfPlace & { orEmpty?: boolean | undefined } = {},
): Promise<string | undefined> {
  const { orEmpty = false, ...place } = options
  const directory = runsDirectoryOf(workDirectory, place)
  const isThere = (run: string) =>
    existsSync(run) && (place.ofAnyWorkspace === true || isRunOf(workDirectory, run))
  const named = readName(join(directory, 'LATEST')) || readName(join(directory, 'runs', 'LATEST'))
  if (isRunId(named) && isThere(runDirectory(workDirectory, named, place))) return named
  const all = await listRuns(workDirectory, place)
  const ids = new Set<string | null>(all.map(({ runId }) => runId))
  const runs = all.filter(({ metadata }) => !ids.has(metadata.parent_run)) // to continue means to continue the caller
  const begun = runs.filter(({ status, problem }) => status !== 'EMPTY' || problem !== undefined)
  return (begun.at(-1) ?? (orEmpty ? runs.at(-1) : undefined))?.runId
}

/** Empty when it is lost: the runs themselves tell. */
function readName(path: string): string {
  try {
    return readText(path).trim()
  } catch (error) {
    throw asReadError(error, path)
  }
}
