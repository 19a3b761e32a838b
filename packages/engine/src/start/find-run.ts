import { quoteForPerson } from '@delta/executor'
import { latestRunId, neverBegan, type RunSummary, readRun, runDirectory } from '@delta/journal'
import { EngineError } from '../errors.js'
import { isText, requireThat } from './usage.js'

/**
 * The summary of a run in a workspace, by default of the latest.
 *
 * @throws {EngineError} `ERR_ENGINE_RUN_NOT_FOUND`.
 *   {JournalError} `ERR_RUN_EMPTY`: it never began. `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function findRun(workDirectory: string, runId?: string): Promise<RunSummary> {
  requireThat(
    isText(workDirectory) && !workDirectory.includes('\0'),
    'findRun: the workspace, its first argument,',
    'the absolute path of a directory',
  )
  requireThat(runId === undefined || isText(runId), 'findRun: the id of the run', 'a string, or nothing')
  const id = runId ?? (await latestRunId(workDirectory, { orEmpty: true }))
  const summary = id === undefined ? undefined : await readRun(runDirectory(workDirectory, id)).catch(missing)
  if (summary === undefined) throw await notFound(workDirectory, runId)
  const begins = summary.owner?.alive ?? false // another process may be about to write its first events
  if (summary.status === 'EMPTY' && !begins) throw neverBegan(summary.directory)
  return summary
}

async function notFound(workDirectory: string, runId: string | undefined): Promise<EngineError> {
  const hasRuns = (await latestRunId(workDirectory, { orEmpty: true })) !== undefined
  const message =
    hasRuns && runId !== undefined
      ? `No run ${runId} in ${workDirectory}. There are others: ${quoteForPerson(['delta', 'list-runs', '-w', workDirectory])}`
      : `No existing run found in the work directory: ${workDirectory}\nHint: Use \`delta run\` to start a new run`
  return new EngineError('ERR_ENGINE_RUN_NOT_FOUND', message)
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}
