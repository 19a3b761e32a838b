import {
  isJournalError,
  journalPath,
  latestRunId,
  type RunSummary,
  readRun,
  runDirectory,
} from '@delta/journal'
import { commandAt, type Place, placeInWords } from '../place.js'
import { UsageError } from '../usage.js'
import { resolveRunId } from './resolve-run-id.js'

/** A run to be looked at. */
export interface ShownRun extends RunSummary {
  journalPath: string
}

/**
 * The run for a command that only reads: the named one, or the workspace's latest. A damaged or empty journal is not refused;
 * the summary's `problem` and `status` tell of it.
 */
export async function findShownRun(place: Place, runId: string | undefined): Promise<ShownRun> {
  const { workDirectory } = place
  const latest = await latestRunId(workDirectory, { ...place, orEmpty: true })
  if (latest === undefined) {
    const what = runId === undefined ? 'No runs' : `No run ${runId}`
    const others = runId === undefined ? '' : ' There are no others.'
    throw new UsageError(`${what} in ${placeInWords(place)}.${others} Choose another workspace with -w.`)
  }
  const id = runId === undefined ? latest : await resolveRunId(runId, place)
  try {
    const run = await readRun(runDirectory(workDirectory, id, place), { tolerant: true })
    return { ...run, journalPath: journalPath(run.directory) }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    const list = commandAt(place, 'list-runs')
    throw new UsageError(
      `No run ${id} in ${placeInWords(place)}. There are others.\nTo see which runs there are: ${list}`,
    )
  }
}
