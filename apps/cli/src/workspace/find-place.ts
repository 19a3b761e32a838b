import { existsSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { checkRunsDirectory, isJournalError } from '@delta/journal'
import type { Place } from '../place.js'
import { say } from '../present/print.js'
import { absoluteVariable, openState } from '../state-directory.js'
import { explainSystemError } from '../terminal/system-error.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { readWorkspaces, WORKSPACES } from './known-workspaces.js'
import { existingWorkDirectoryOf, pathAsTyped, workDirectoryOf } from './work-directory.js'

export interface RunsFlags {
  runsDir?: string
}

/**
 * The place of a command that runs something in the workspace. Where the runs are kept is said by `--runs-dir`, by
 * `DELTA_RUNS_DIR`, or by what was remembered of the workspace.
 *
 * @throws {UsageError} The runs cannot be kept there.
 */
export function placeToWork(workDirectory: string, flags: RunsFlags, terminal: Terminal): Place {
  const named = namedRunsDirectory(workDirectory, flags, terminal)
  if (named === undefined) return { workDirectory, runsDirectory: undefined }
  try {
    const runsDirectory = checkRunsDirectory(workDirectory, { runsDirectory: named.path })
    return { workDirectory, runsDirectory: isOwn(workDirectory, runsDirectory) ? undefined : runsDirectory }
  } catch (cause) {
    if (!isJournalError(cause) || cause.code !== 'ERR_RUNS_DIRECTORY') throw cause
    throw new UsageError(`${named.by}: ${cause.message.slice(`${cause.path}: `.length)}`, { cause })
  }
}

/** The place of a command that only looks at runs, and needs neither the workspace nor that the directory is ours. */
export function placeToLook(flags: { workDir: string } & RunsFlags, terminal: Terminal): Place {
  const isTyped = flags.runsDir !== undefined
  const workDirectory = (isTyped ? workDirectoryOf : existingWorkDirectoryOf)(flags, terminal)
  const named = namedRunsDirectory(workDirectory, flags, terminal)
  if (named === undefined) return { workDirectory, runsDirectory: undefined }
  if (!isTyped) return { workDirectory, runsDirectory: named.path }
  return { workDirectory, runsDirectory: existing(named), ofAnyWorkspace: true }
}

interface Named {
  path: string
  /** Where it was said, as a person knows it. */
  by: string
}

function namedRunsDirectory(
  workDirectory: string,
  { runsDir }: RunsFlags,
  terminal: Terminal,
): Named | undefined {
  if (runsDir !== undefined)
    return { path: pathAsTyped('--runs-dir', runsDir, terminal), by: `--runs-dir ${runsDir}` }
  const { DELTA_RUNS_DIR: variable } = terminal.env
  if (variable)
    return { path: absoluteVariable('DELTA_RUNS_DIR', variable), by: `DELTA_RUNS_DIR=${variable}` }
  const { known, problem } = readWorkspaces(terminal.env)
  if (problem !== undefined) say(terminal, problem)
  const path = known(workDirectory)
  if (path === undefined || isOwn(workDirectory, path)) return undefined
  return { path, by: `${path}, where the runs of this workspace were kept before` }
}

function existing({ path, by }: Named): string {
  try {
    if (statSync(path).isDirectory()) return realpathSync(path)
  } catch (cause) {
    throw new UsageError(`${by}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
  throw new UsageError(`${by}: it is a file, not a directory.`)
}

function isOwn(workDirectory: string, runsDirectory: string): boolean {
  return [workDirectory, realPath(workDirectory)].some((path) => join(path, '.delta') === runsDirectory)
}

/**
 * Prepares to remember where the runs of a workspace are kept, if that is not known.
 *
 * @returns To be called once there is a run.
 * @throws {UsageError} The state directory cannot be written.
 */
export function rememberPlace({ workDirectory, runsDirectory }: Place, { env }: Terminal): () => void {
  const path = realPath(workDirectory)
  const inWorkspace = join(path, '.delta')
  const runs_dir = runsDirectory ?? inWorkspace
  if ((readWorkspaces(env).known(path) ?? inWorkspace) === runs_dir) return () => undefined
  const state = openState(WORKSPACES, env)
  return () => state.add({ path, runs_dir })
}

function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : path
}
