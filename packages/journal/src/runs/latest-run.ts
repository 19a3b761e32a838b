import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readTextAtOnce } from '../files/read-at.js'
import { asReadError } from '../files/read-error.js'
import { isRunId, runDirectory, runsDirectoryOf } from '../run-paths.js'
import { listRuns, type RunsOfPlace } from './list-runs.js'
import { isRunOf } from './runs-directory.js'

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
