import { createHash } from 'node:crypto'
import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { realPath } from '@delta/durable/internal'
import { quoteForPerson } from '@delta/executor'
import { isJournalError } from '@delta/journal'
import { checkRunsDirectory, workDirectoryOf } from '@delta/journal/internal'
import { WorkspaceError } from './errors.js'
import { absoluteVariable, checkStateDirectory, prepareFacts, readFact, writeFact } from './state.js'
import type { Surroundings } from './surroundings.js'
import { explainSystemError } from './system-error.js'

/** A workspace, and where its runs are kept. */
export interface Place {
  workDirectory: string
  /** Undefined: in its `.delta`. */
  runsDirectory: string | undefined
  /** Set where a person named only the runs directory, to look at it: all runs in it are meant. */
  ofAnyWorkspace?: true
}

/** The place of a run, from its directory. */
export function placeOfRun(runDirectory: string): Place {
  const above = dirname(runDirectory)
  const runs = basename(above) === 'runs' ? dirname(above) : above // as v1.1 kept them
  const isInside = basename(runs) === '.delta'
  return {
    workDirectory: workDirectoryOf(runDirectory) ?? dirname(above),
    runsDirectory: isInside ? undefined : above,
  }
}

/** A workspace as messages name it. */
export function placeInWords({ workDirectory, runsDirectory, ofAnyWorkspace }: Place): string {
  if (runsDirectory === undefined) return workDirectory
  return ofAnyWorkspace ? runsDirectory : `${workDirectory} (its runs are kept in ${runsDirectory})`
}

/** A command line about a place, ready to be pasted. */
export function commandAt(place: Place, ...words: string[]): string {
  return quoteForPerson(['delta', ...words, ...placeArguments(place)])
}

/** The command line that takes a run up again, ready to be pasted. */
export function commandToContinue(place: Place, runId: string): string {
  return quoteForPerson(['delta', 'continue', ...placeArguments(place), '--run-id', runId])
}

/** The options that name a place. Without the second, only a state directory that remembers it would find the runs. */
function placeArguments({ workDirectory, runsDirectory }: Place): string[] {
  return ['-w', workDirectory, ...(runsDirectory === undefined ? [] : ['--runs-dir', runsDirectory])]
}

/** Where a person says that runs are kept. */
export interface RunsFlags {
  runsDir?: string
}

/**
 * The place of a command that runs something in the workspace. Where the runs are kept is said by `--runs-dir`, by
 * `DELTA_RUNS_DIR`, or by what was remembered of the workspace.
 *
 * @throws {WorkspaceError} The runs cannot be kept there, or the state directory lies in the workspace.
 */
export function placeToWork(workDirectory: string, flags: RunsFlags, surroundings: Surroundings): Place {
  checkStateDirectory(workDirectory, surroundings.env)
  const named = namedRunsDirectory(workDirectory, flags, surroundings)
  if (named === undefined) return { workDirectory, runsDirectory: undefined }
  try {
    const runsDirectory = checkRunsDirectory(workDirectory, { runsDirectory: named.path })
    return { workDirectory, runsDirectory: isOwn(workDirectory, runsDirectory) ? undefined : runsDirectory }
  } catch (cause) {
    if (!isJournalError(cause) || cause.code !== 'ERR_RUNS_DIRECTORY') throw cause
    throw new WorkspaceError(`${named.by}: ${cause.reason}`, { cause })
  }
}

/** The place of a command that only looks at runs, and needs neither the workspace nor that the directory is ours. */
export function placeToLook(flags: { workDir?: string } & RunsFlags, surroundings: Surroundings): Place {
  const { workDir = '.', runsDir } = flags
  const isTyped = runsDir !== undefined
  const workDirectory = (isTyped ? typedWorkDirectory : existingWorkDirectory)({ workDir }, surroundings)
  const named = namedRunsDirectory(workDirectory, flags, surroundings)
  if (named === undefined) return { workDirectory, runsDirectory: undefined }
  if (!isTyped) return { workDirectory, runsDirectory: named.path }
  refuseMissing(named.path, named.by)
  const place = { workDirectory, runsDirectory: realpathSync(named.path) }
  return flags.workDir === undefined ? { ...place, ofAnyWorkspace: true } : place
}

interface Named {
  path: string
  /** Where it was said, as a person knows it. */
  by: string
}

function namedRunsDirectory(
  workDirectory: string,
  { runsDir }: RunsFlags,
  surroundings: Surroundings,
): Named | undefined {
  if (runsDir !== undefined)
    return { path: pathAsTyped('--runs-dir', runsDir, surroundings), by: `--runs-dir ${runsDir}` }
  const { DELTA_RUNS_DIR: variable } = surroundings.env
  if (variable)
    return { path: absoluteVariable('DELTA_RUNS_DIR', variable), by: `DELTA_RUNS_DIR=${variable}` }
  const path = rememberedRuns(workDirectory, surroundings.env)
  if (path === undefined || isOwn(workDirectory, path)) return undefined
  return { path, by: `${path}, where the runs of this workspace were kept before` }
}

function isOwn(workDirectory: string, runsDirectory: string): boolean {
  return [workDirectory, realPath(workDirectory)].some((path) => join(path, '.delta') === runsDirectory)
}

/**
 * Prepares to remember where the runs of a workspace are kept, if that is not known.
 *
 * @returns To be called once there is a run.
 * @throws {WorkspaceError} The state directory cannot be written.
 */
export function rememberPlace({ workDirectory, runsDirectory }: Place, { env }: Surroundings): () => void {
  const path = realPath(workDirectory)
  const inWorkspace = join(path, '.delta')
  const runs_dir = runsDirectory ?? inWorkspace
  if ((rememberedRuns(path, env) ?? inWorkspace) === runs_dir) return () => undefined
  prepareFacts('workspaces', env)
  return () => writeFact<KeptRuns>('workspaces', nameOfWorkspace(path), { path, runs_dir }, env)
}

/** Which runs directory a workspace has: both absolute, without symbolic links. */
interface KeptRuns {
  path: string
  runs_dir: string
}

/** The remembered runs directory of a workspace. */
function rememberedRuns(workDirectory: string, env: NodeJS.ProcessEnv): string | undefined {
  return readFact<KeptRuns>('workspaces', nameOfWorkspace(realPath(workDirectory)), env)?.runs_dir
}

function nameOfWorkspace(path: string): string {
  return createHash('sha256').update(path).digest('hex')
}

/** `-w` as an absolute path, which need not exist. A path into `.delta` is refused. */
export function namedDirectory(workDir: string, surroundings: Surroundings, flag = '-w'): string {
  const directory = pathAsTyped(flag, workDir, surroundings)
  const records = directory.split(sep).indexOf('.delta')
  if (records === -1) return directory
  const workspace = directory.split(sep).slice(0, records).join(sep) || sep
  throw new WorkspaceError(
    `${flag} ${workDir}: it is not a workspace: .delta holds the records of one. Name the workspace itself: ${quoteForPerson([flag, workspace])}`,
  )
}

/** The absolute path that was typed after a flag. */
function pathAsTyped(flag: string, path: string, { cwd }: Surroundings): string {
  if (path.startsWith('~'))
    throw new WorkspaceError(
      `${flag} ${path}: the shell did not expand the "~", as within quotes or after "=". Write "$HOME" instead.\nFor a directory of that name, write ./${path}`,
    )
  return resolve(cwd, path)
}

/** `-w` of a command that does not create it: a missing directory has no runs, a file is a mistake. */
export function typedWorkDirectory({ workDir }: { workDir: string }, surroundings: Surroundings): string {
  const directory = namedDirectory(workDir, surroundings)
  const by = `-w ${workDir}`
  const dangling = isDirectory(directory, by) ? undefined : danglingLink(directory, by)
  if (dangling !== undefined) throw new WorkspaceError(dangling)
  return directory
}

/** `-w` of a command that needs an existing workspace. */
export function existingWorkDirectory({ workDir }: { workDir: string }, surroundings: Surroundings): string {
  const directory = namedDirectory(workDir, surroundings)
  refuseMissing(directory, `-w ${workDir}`)
  return directory
}

function refuseMissing(path: string, by: string): void {
  if (!isDirectory(path, by))
    throw new WorkspaceError(
      danglingLink(path, by) ?? `${by}: there is no such directory. Create it, or name another one.`,
    )
}

/** The message about a link whose target is missing; undefined for anything else. */
export function danglingLink(path: string, by: string): string | undefined {
  if (existsSync(path)) return undefined
  try {
    return `${by}: it is a link to ${readlinkSync(path)}, which does not exist. Create that directory, or name another one.`
  } catch {
    return undefined // nothing is there, or it cannot be looked at: who uses it says so
  }
}

/**
 * False if nothing is there.
 *
 * @throws {WorkspaceError} It is a file, or cannot be looked at.
 */
function isDirectory(path: string, by: string): boolean {
  try {
    if (statSync(path).isDirectory()) return true
  } catch (cause) {
    // not throwIfNoEntry: since Node.js 22 it also treats a path below a file as missing
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw new WorkspaceError(`${by}: ${explainSystemError(cause) ?? (cause as Error).message}`, { cause })
  }
  throw new WorkspaceError(`${by}: it is a file, not a directory.`)
}
