import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { asReadError, isJournalError } from './errors.js'
import { readFirstLine, readTextAtOnce } from './files.js'
import { parseJson } from './lines.js'
import { isToday } from './event-schemas.js'
import type { RunSummary } from './fold.js'
import { isRunId, isRunOf, journalPath, type RunsPlace, runDirectory, runsDirectoryOf } from './paths.js'
import { readRun } from './read-run.js'

/** Which runs of a directory are meant. */
export interface RunsOfPlace extends RunsPlace {
  /** True: also those of other workspaces. */
  ofAnyWorkspace?: boolean | undefined
}

/**
 * Every run of a workspace, of today's layout and of v1.1's, oldest first. A workspace without `.delta` has none.
 * A directory in `.delta` that holds nothing of a run is none. A run whose journal is damaged or cannot be read is listed too, with what its whole lines say and a `problem`.
 *
 * @param options.runsDirectory - Where they are kept. Of those of several workspaces in one directory, only this one's are listed.
 * @param options.ofAnyWorkspace - List those of the others, too.
 * @param options.calledBy - Only the runs that a command of this run started (`parent_run`); the journals of the others
 *   are not read to their end.
 * @throws {JournalError} `ERR_JOURNAL_READ`: the workspace is a file, or its `.delta` cannot be read.
 */
export async function listRuns(
  workDirectory: string,
  options: RunsOfPlace & { calledBy?: string | undefined } = {},
): Promise<RunSummary[]> {
  const { calledBy, ofAnyWorkspace = false } = options
  const today = runsDirectoryOf(workDirectory, options)
  const names = new Set([...runNames(today), ...runNames(join(today, 'runs'))])
  const runs: RunSummary[] = []
  for (const name of names) {
    const directory = runDirectory(workDirectory, name, options)
    if (!ofAnyWorkspace && !isRunOf(workDirectory, directory)) continue
    if (calledBy !== undefined && !mayBeCalledBy(calledBy, directory)) continue
    const [run] = await readIfThere(directory)
    if (run && (calledBy === undefined || run.metadata.parent_run === calledBy)) runs.push(run)
  }
  return runs.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

/** Who called a run stands in its first event. Where that cannot be read, its whole lines are asked. */
function mayBeCalledBy(caller: string, directory: string): boolean {
  try {
    const start = parseJson(readFirstLine(journalPath(directory)))
    return !isToday(start) || (start as { parent_run?: unknown }).parent_run === caller
  } catch (error) {
    if (isJournalError(error)) return true
    throw error
  }
}

/** Nothing of a run that was deleted since its name was read. */
async function readIfThere(directory: string): Promise<RunSummary[]> {
  try {
    return [await readRun(directory, { tolerant: true })]
  } catch (error) {
    if (isJournalError(error) && error.code === 'ERR_RUN_NOT_FOUND') return []
    throw error
  }
}

function sortKey({ metadata, runId }: RunSummary): string {
  return `${metadata.created_at ?? ''} ${runId}`
}

/** What computed sources write lies beside the runs, in directories that hold nothing of a run. */
function isOfRun(directory: string): boolean {
  try {
    return readdirSync(directory).some((name) => RUN_PARTS.has(name))
  } catch (error) {
    // One that cannot be read may be a run, and is listed with its problem.
    return !['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
  }
}

const RUN_PARTS = new Set(['journal.jsonl', 'metadata.json', 'lease', 'io', 'execution'])

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

/**
 * The id of the workspace's latest run: what `LATEST` (or v1.1's `runs/LATEST`) says, and if that names no run of
 * the workspace, the newest that began and that no other run of the workspace called. A crash can fall between a run's beginning and its
 * name in `LATEST`. Undefined when there is none.
 *
 * @param options.orEmpty - If none began, the newest that did not: for whoever can say so of it.
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
  const named = readName(join(directory, 'LATEST')) ?? readName(join(directory, 'runs', 'LATEST'))
  if (named !== undefined && isRunId(named) && isThere(runDirectory(workDirectory, named, place)))
    return named
  const all = await listRuns(workDirectory, place)
  const ids = new Set<string | null>(all.map(({ runId }) => runId))
  const runs = all.filter(({ metadata }) => !ids.has(metadata.parent_run)) // whoever continues means the caller
  const begun = runs.filter(({ status, problem }) => status !== 'EMPTY' || problem !== undefined)
  return (begun.at(-1) ?? (orEmpty ? runs.at(-1) : undefined))?.runId
}

function readName(path: string): string | undefined {
  try {
    return readTextAtOnce(path).trim() || undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined // lost: the runs themselves tell
    throw asReadError(error, path)
  }
}
