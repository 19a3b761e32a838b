import { existsSync } from 'node:fs'
import { isJournalError } from '@delta/journal'
import { latestRunId, runDirectory } from '@delta/journal/internal'
import { listRuns, type RunSummary, readRun } from '@delta/journal/runs'
import type { Place, RunsFlags } from '@delta/workspace'
import { commandAt, placeInWords } from '@delta/workspace/internal'
import { UsageError } from './usage.js'

/**
 * The run for a command that only reads: the named one, or the workspace's latest. A damaged or empty journal is not refused;
 * the summary's `problem` and `status` tell of it.
 */
export async function findShownRun(place: Place, runId: string | undefined): Promise<RunSummary> {
  const { workDirectory } = place
  const latest = await latestRunId(workDirectory, { ...place, orEmpty: true })
  if (latest === undefined) {
    const what = runId === undefined ? 'No runs' : `No run ${runId}`
    const others = runId === undefined ? '' : ' There are no others.'
    throw new UsageError(`${what} in ${placeInWords(place)}.${others} Choose another workspace with -w.`)
  }
  const id = runId === undefined ? latest : await resolveRunId(runId, place)
  try {
    return await readRun(runDirectory(workDirectory, id, place), { tolerant: true })
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_RUN_NOT_FOUND') throw error
    const list = commandAt(place, 'list-runs')
    throw new UsageError(
      `No run ${id} in ${placeInWords(place)}. There are others.\nTo see which runs there are: ${list}`,
    )
  }
}

/** How a command that only reads is told which run it is about. */
export interface ShownRunFlags extends RunsFlags {
  workDir?: string
  runId?: string
}

/** The run that `--run-id` or the argument names; undefined for the latest. */
export function namedRun({ runId }: ShownRunFlags, argument: string | undefined): string | undefined {
  if (runId !== undefined && argument !== undefined && runId !== argument)
    throw new UsageError(`--run-id ${runId} and ${argument} name two runs. Name one.`)
  return runId ?? argument
}

/**
 * The id of the run that was typed, in full or as a unique prefix. If no id begins so, it is returned as typed: the next
 * lookup reports that the run does not exist.
 *
 * @throws {UsageError} Several ids begin so; the message lists them.
 */
export async function resolveRunId(typed: string, place: Place): Promise<string> {
  const { workDirectory } = place
  if (typed === '' || existsSync(runDirectory(workDirectory, typed, place))) return typed
  const all = await listRuns(workDirectory, place)
  const ids = all.map(({ runId }) => runId).filter((id) => id.startsWith(typed))
  if (ids.length <= 1) return ids[0] ?? typed
  const shown = ids.slice(-MOST_IDS).map((id) => `  ${id}`)
  const more = ids.length > MOST_IDS ? [`To see all: ${commandAt(place, 'list-runs')}`] : []
  throw new UsageError(
    [
      `The ids of ${ids.length} runs begin with ${typed}. Type more of the one you mean:`,
      ...shown,
      ...more,
    ].join('\n'),
  )
}

/** The newest: a workspace may have hundreds of the same day. */
const MOST_IDS = 10
