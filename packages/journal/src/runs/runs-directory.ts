import { realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { isJournalError, JournalError } from '../errors.js'
import { readFirstLine } from '../files/read-at.js'
import { isObject } from '../is-object.js'
import { parseJson } from '../read/parse.js'
import { DELTA_DIRECTORY, journalPath, type RunsPlace, runsDirectoryOf } from '../run-paths.js'

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
  throw new JournalError('ERR_RUNS_DIRECTORY', `${directory}: The runs directory ${why}`, {
    path: directory,
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

/**
 * The workspace of a run: the one whose `.delta` holds it, which may have been moved since; elsewhere, the one that its first
 * event names. Undefined if that cannot be read, or names none.
 */
export function workDirectoryOf(runDirectory: string): string | undefined {
  const directory = resolve(runDirectory)
  const above = dirname(directory)
  const runs = basename(above) === 'runs' ? dirname(above) : above // as v1.1 kept them
  if (basename(runs) === DELTA_DIRECTORY) return dirname(runs)
  try {
    const start = parseJson(readFirstLine(journalPath(directory)))
    return isObject(start) && typeof start.work_dir === 'string' ? start.work_dir : undefined
  } catch (error) {
    if (isJournalError(error)) return undefined // reading the run says why
    throw error
  }
}

/** False for a run of another workspace: several may keep their runs in one directory. */
export function isRunOf(workDirectory: string, runDirectory: string): boolean {
  const own = workDirectoryOf(runDirectory)
  return own === undefined || realPath(own) === realPath(workDirectory)
}

/** Absolute, without symbolic links, as far as the path exists. */
function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(realPath(above), basename(absolute))
  }
}

/** Compares absolute paths; a directory is inside itself. */
function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith(`..${sep}`)
}

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined // missing, or not to be seen: creating it says why it cannot be
  }
}
