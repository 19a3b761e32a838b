import { existsSync } from 'node:fs'
import {
  isJournalError,
  journalPath,
  latestRunId,
  listRuns,
  type RunSummary,
  readRun,
  runDirectory,
} from '@delta/journal'
import { commandAt, type Place, placeInWords } from '../place.js'
import { UsageError } from '../usage.js'

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

const MOST_NAMED = 8

/**
 * The id of the run that was typed, in full or as a unique prefix. If no id begins so, it is returned as typed: whoever then
 * looks for the run reports that there is none.
 *
 * @throws {UsageError} Several ids begin so; the message lists them.
 */
export async function resolveRunId(typed: string, place: Place): Promise<string> {
  const { workDirectory } = place
  if (typed === '' || existsSync(runDirectory(workDirectory, typed, place))) return typed
  const all = await listRuns(workDirectory, place)
  const ids = all.map(({ runId }) => runId).filter((id) => id.startsWith(typed))
  if (ids.length <= 1) return ids[0] ?? typed
  const newest = ids.reverse().slice(0, MOST_NAMED)
  const list = commandAt(place, 'list-runs')
  const rest = ids.length > newest.length ? `\nAll of them: ${list}` : ''
  throw new UsageError(
    `The ids of ${ids.length} runs begin with ${typed}. Type more of the one you mean:\n${newest.map((id) => `  ${id}`).join('\n')}${rest}`,
  )
}
