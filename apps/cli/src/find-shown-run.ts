import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isJournalError } from '@delta/journal'
import { isOfRun, latestRunId, runDirectory } from '@delta/journal/internal'
import { listRuns, type RunSummary, readRun } from '@delta/journal/runs'
import { type Place, placeToLook, type RunsFlags } from '@delta/workspace'
import { commandAt, placeInWords } from '@delta/workspace/internal'
import { refuseEvaluation, runOfCell } from './run-of-cell.js'
import type { Terminal } from './terminal.js'
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
    const others = runId === undefined ? '' : ', which has none'
    throw new UsageError(`${what} in ${placeInWords(place)}${others}. Choose another workspace with -w.`)
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

/**
 * The run that a person named: by its id, a unique prefix or its last part; by its directory; by a workspace, whose latest it
 * is. Without a name, the latest of the workspace where the command looks.
 */
export async function shownRun(
  flags: ShownRunFlags,
  terminal: Terminal,
  argument: string | undefined,
): Promise<RunSummary> {
  const typed = typedRun(flags, argument)
  const directory = typed === undefined ? undefined : directoryAt(typed, terminal)
  if (directory === undefined) return findShownRun(placeToLook(flags, terminal), typed)
  if (isOfRun(directory)) return readRun(directory, { tolerant: true })
  refuseEvaluation(directory, typed)
  return findShownRun(placeToLook({ ...flags, workDir: directory }, terminal), undefined)
}

/**
 * The directory that was typed in the place of an id, of a cell that of its run; undefined for an id.
 *
 * @throws {UsageError} A path leads to no directory, or to a cell without a run.
 */
export function directoryAt(typed: string, { cwd }: Terminal): string | undefined {
  const path = resolve(cwd, typed)
  const run = runOfCell(path, typed)
  if (run !== undefined) return run
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path
  if (!typed.includes('/')) return undefined
  throw new UsageError(
    `${typed}: there is no such directory. Name a run, a workspace, or a directory of runs.`,
  )
}

/** How a command that only reads is told which run it is about. */
export interface ShownRunFlags extends RunsFlags {
  workDir?: string
  runId?: string
}

/** The run that `--run-id` or the argument names; undefined for the latest. */
function typedRun({ runId }: ShownRunFlags, argument: string | undefined): string | undefined {
  if (runId !== undefined && argument !== undefined && runId !== argument)
    throw new UsageError(`--run-id ${runId} and ${argument} name two runs. Name one.`)
  return runId ?? argument
}

/**
 * The id of the run that was typed in full, as a unique prefix, or as what follows its last `_`. If no id fits, it is returned as
 * typed: the next lookup reports that the run does not exist.
 *
 * @throws {UsageError} Several ids fit; the message lists them.
 */
export async function resolveRunId(typed: string, place: Place): Promise<string> {
  const { workDirectory } = place
  if (typed === '' || existsSync(runDirectory(workDirectory, typed, place))) return typed
  const all = await listRuns(workDirectory, place)
  const ids = all.map(({ runId }) => runId).filter((id) => id.startsWith(typed) || id.endsWith(`_${typed}`))
  if (ids.length <= 1) return ids[0] ?? typed
  const shown = ids.slice(-MOST_IDS).map((id) => `  ${id}`)
  const more = ids.length > MOST_IDS ? [`To see all: ${commandAt(place, 'list-runs')}`] : []
  throw new UsageError(
    [
      `${ids.length} run ids begin or end with ${typed}. Type more of the one you mean:`,
      ...shown,
      ...more,
    ].join('\n'),
  )
}

/** The newest: a workspace may have hundreds of the same day. */
const MOST_IDS = 10
