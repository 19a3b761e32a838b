import { quoteForPerson } from '@delta/executor'
import {
  isJournalError,
  journalPath,
  latestRunId,
  type RunSummary,
  readRun,
  runDirectory,
} from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'
import { type Place, placeArguments, placeInWords } from '../usage/place.js'
import { spokenName } from '../usage/spoken-name.js'
import { UsageError } from '../usage/usage-error.js'
import { otherWorkspace } from '../workspace/workspace-near.js'
import { resolveRunId } from './resolve-run-id.js'

/** A run to be looked at. */
export interface ShownRun extends RunSummary {
  journalPath: string
}

/**
 * The run for a command that only reads: the named one, or the workspace's latest. A damaged or empty journal is not refused;
 * the summary's `problem` and `status` tell of it.
 */
export async function findShownRun(
  place: Place,
  flags: { workDir: string },
  runId: string | undefined,
  terminal: Terminal,
): Promise<ShownRun> {
  const { workDirectory } = place
  const latest = await latestRunId(workDirectory, { ...place, orEmpty: true })
  if (latest === undefined) {
    const what = runId === undefined ? 'No runs' : `No run ${runId}`
    const others = runId === undefined ? '' : ' There are no others.'
    const command = ['show', ...(runId === undefined ? [] : [runId])]
    throw new UsageError(
      `${what} in ${placeInWords(place)}.${others} ${otherWorkspace(command, flags, terminal)}`,
    )
  }
  const id = runId === undefined ? latest : await resolveRunId(runId, { place, env: terminal.env })
  try {
    const run = await readRun(runDirectory(workDirectory, id, place), { tolerant: true })
    return { ...run, journalPath: journalPath(run.directory) }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    const list = quoteForPerson([...spokenName(terminal.env), 'list-runs', ...placeArguments(place)])
    throw new UsageError(`No run ${id} in ${placeInWords(place)}. There are others: ${list}`)
  }
}
