import { existsSync } from 'node:fs'
import { quoteForPerson } from '@delta/executor'
import {
  isRunOf,
  latestRunId,
  neverBegan,
  type RunSummary,
  type RunsPlace,
  readRun,
  runDirectory,
  workDirectoryOf,
} from '@delta/journal'
import { EngineError } from '../errors.js'
import { placeArguments } from './place-arguments.js'

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
  refuseOther(summary, workDirectory, place)
  const begins = summary.owner?.alive ?? false // another process may be about to write its first events
  if (summary.status === 'EMPTY' && !begins) throw neverBegan(summary.directory)
  return summary
}

/** Several workspaces may keep their runs in one directory. */
function refuseOther({ directory, runId }: RunSummary, workDirectory: string, place: RunsPlace): void {
  const own = workDirectoryOf(directory)
  if (own === undefined || isRunOf(workDirectory, directory) || !existsSync(own)) return
  const there = placeArguments({ ...place, workDirectory: own })
  throw new EngineError(
    'ERR_ENGINE_OTHER_WORKSPACE',
    `Run ${runId} is of another workspace, ${own}.\nGo on with it there: ${quoteForPerson(['delta', 'continue', ...there, '--run-id', runId])}`,
  )
}

async function notFound(
  workDirectory: string,
  runId: string | undefined,
  place: RunsPlace,
): Promise<EngineError> {
  const hasRuns = (await latestRunId(workDirectory, { ...place, orEmpty: true })) !== undefined
  const where = placeArguments({ workDirectory, ...place })
  const kept = place.runsDirectory === undefined ? '' : ` (its runs are kept in ${place.runsDirectory})`
  const message =
    hasRuns && runId !== undefined
      ? `No run ${runId} in ${workDirectory}. There are others: ${quoteForPerson(['delta', 'list-runs', ...where])}`
      : `No existing run found in the work directory: ${workDirectory}${kept}\nHint: Use \`delta run\` to start a new run`
  return new EngineError('ERR_ENGINE_RUN_NOT_FOUND', message)
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}
