import { existsSync, type Stats, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { isInside, realPath } from '@delta/durable/internal'
import { JournalError } from './errors.js'

/** Where the runs of a workspace are kept. */
export interface RunsPlace {
  /** Default: `.delta` in the workspace. Another directory may hold the runs of several workspaces. */
  runsDirectory?: string | undefined
}

/**
 * The directory of a run: `<workDirectory>/.delta/<runId>` or `<runsDirectory>/<runId>`; of a run that v1.1 made,
 * `.delta/runs/<runId>`.
 *
 * @throws {JournalError} `ERR_RUN_ID`: the id is not one plain file name.
 */
export function runDirectory(workDirectory: string, runId: string, place: RunsPlace = {}): string {
  const runs = runsDirectoryOf(workDirectory, place)
  const path = join(runs, runId)
  const old = join(runs, 'runs', runId)
  if (isRunId(runId)) return !existsSync(path) && existsSync(old) ? old : path
  throw new JournalError(
    'ERR_RUN_ID',
    `Run id ${JSON.stringify(runId)} cannot name a directory. Use letters, digits, ".", "_" and "-" (at most 128,\n` +
      'beginning with a letter or digit), and none of: VERSION, LATEST, runs, context_artifacts.',
    { path },
  )
}

export function runsDirectoryOf(workDirectory: string, { runsDirectory }: RunsPlace): string {
  return resolve(runsDirectory ?? join(workDirectory, DELTA_DIRECTORY))
}

/** The name of the directory that holds the runs in a workspace. */
export const DELTA_DIRECTORY = '.delta'

const RESERVED = new Set(['VERSION', 'LATEST', 'runs', 'context_artifacts'])

export function isRunId(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name) && !RESERVED.has(name)
}

/**
 * The directory for the runs of a workspace, which need not exist.
 *
 * @returns Its path without symbolic links; `.delta` of the workspace as it is.
 * @throws {JournalError} `ERR_RUNS_DIRECTORY`: it lies in the workspace or above it, is a file, or belongs to another user.
 */
export function checkRunsDirectory(workDirectory: string, place: RunsPlace): string {
  const inWorkspace = runsDirectoryOf(workDirectory, {})
  if (place.runsDirectory === undefined) return inWorkspace
  const workspace = realPath(workDirectory)
  const directory = realPath(place.runsDirectory)
  if (directory === realPath(inWorkspace)) return inWorkspace

  const why = whyNot(directory, workspace)
  if (why === undefined) return directory
  const reason = `The runs directory ${why}`
  throw new JournalError('ERR_RUNS_DIRECTORY', `${directory}: ${reason}`, {
    path: directory,
    reason,
  })
}

function whyNot(directory: string, workspace: string): string | undefined {
  if (isInside(directory, workspace))
    return `lies in the workspace, ${workspace}.\nName a directory outside the workspace. Without one, the runs are kept in its ${DELTA_DIRECTORY}.`
  if (isInside(workspace, directory))
    return `holds the workspace, ${workspace}.\nName a directory beside the workspace, or elsewhere.`
  if (directory.split(sep).includes(DELTA_DIRECTORY))
    return `is the ${DELTA_DIRECTORY} of another workspace, or lies in it.\nName another directory.`
  const status = statusOf(directory)
  if (status === undefined) return undefined
  if (!status.isDirectory())
    return 'is a file, not a directory.\nName a directory; it is created if it is missing.'
  const user = process.geteuid?.()
  if (user === undefined || status.uid === user) return undefined
  return `belongs to another user (${status.uid}), who could change the runs.\nName a directory that belongs to you (${user}).`
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined // missing, or not to be seen: creating it says why it cannot be
  }
}
