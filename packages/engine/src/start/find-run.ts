import { existsSync } from 'node:fs'
import {
  isRunOf,
  latestRunId,
  neverBegan,
  type RunSummary,
  type RunsPlace,
  readRun,
  runDirectory,
  workDirectoryOf,
} from '@delta/journal/runs'
import { EngineError } from '../errors.js'

/**
 * The summary of a run in a workspace, by default of the latest. A run whose own workspace is gone may be named, too: the
 * workspace may have been moved.
 *
 * @param place.runsDirectory - Where its runs are kept, if that is outside the workspace.
 * @throws {EngineError} `ERR_ENGINE_RUN_NOT_FOUND`, `ERR_ENGINE_OTHER_WORKSPACE`.
 *   {JournalError} `ERR_RUN_EMPTY`: it never began. `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function findRun(
  workDirectory: string,
  runId?: string,
  place: RunsPlace = {},
): Promise<RunSummary> {
  const id = runId ?? (await latestRunId(workDirectory, { ...place, orEmpty: true }))
  const summary =
    id === undefined ? undefined : await readRun(runDirectory(workDirectory, id, place)).catch(missing)
  if (summary === undefined) throw await notFound(workDirectory, runId, place)
  refuseOther(summary, workDirectory)
  const begins = summary.owner?.alive ?? false // another process may be about to write its first events
  if (summary.status === 'EMPTY' && !begins) throw neverBegan(summary.directory)
  return summary
}

/** Several workspaces may keep their runs in one directory. */
function refuseOther({ directory, runId }: RunSummary, workDirectory: string): void {
  const own = workDirectoryOf(directory)
  if (own === undefined || isRunOf(workDirectory, directory) || !existsSync(own)) return
  throw new EngineError('ERR_ENGINE_OTHER_WORKSPACE', `Run ${runId} is of another workspace, ${own}.`, {
    path: directory,
    wayOut: 'continue',
  })
}

async function notFound(
  workDirectory: string,
  runId: string | undefined,
  place: RunsPlace,
): Promise<EngineError> {
  const hasRuns = (await latestRunId(workDirectory, { ...place, orEmpty: true })) !== undefined
  const kept = place.runsDirectory === undefined ? '' : ` (its runs are kept in ${place.runsDirectory})`
  if (!hasRuns || runId === undefined)
    return new EngineError(
      'ERR_ENGINE_RUN_NOT_FOUND',
      `No existing run found in the work directory: ${workDirectory}${kept}`,
      { wayOut: 'start' },
    )
  return new EngineError(
    'ERR_ENGINE_RUN_NOT_FOUND',
    `No run ${runId} in ${workDirectory}${kept}. There are others.`,
    { path: runDirectory(workDirectory, runId, place), wayOut: 'list' },
  )
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}
