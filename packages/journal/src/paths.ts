import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { asWriteError, isJournalError, JournalError } from './errors.js'
import { isObject } from './event.js'
import { readFirstLine } from './files.js'
import { parseJson } from './lines.js'

/** Where the parts of a run lie, as absolute paths. */
export interface RunPaths {
  /** `journal.jsonl`: the truth. */
  journal: string
  /** `metadata.json`: a cache of it, see `RunMetadata`. */
  metadata: string
  /** A directory: the agent's files as each start found them, `<seq>/`, only when they had changed. */
  configuration: string
  /** A directory: one record for each request to the model. */
  invocations: string
  /** `parts.jsonl`: each message that was ever sent, once; the records name its lines. */
  parts: string
  /** A directory: the bytes of each image and file in a message, by their SHA-256. */
  blobs: string
  /** A directory: a record of each command, and its output where that is large. */
  toolExecutions: string
  /** A directory: of each hook, what it was given and what it wrote. */
  hooks: string
  /** A directory, only while the run holds sensitive answers. */
  secrets: string
  /** A directory, only while the run waits for a person: the question, and where the answer goes. */
  interaction: string
  /** A directory: who writes the run. */
  lease: string
}

export function runPaths(directory: string): RunPaths {
  const io = join(directory, 'io')
  return {
    journal: join(directory, 'journal.jsonl'),
    metadata: join(directory, 'metadata.json'),
    configuration: join(directory, 'configuration'),
    invocations: join(io, 'invocations'),
    parts: join(io, 'parts.jsonl'),
    blobs: join(io, 'blobs'),
    toolExecutions: join(io, 'tool_executions'),
    hooks: join(io, 'hooks'),
    secrets: join(directory, 'secrets'),
    interaction: join(directory, 'interaction'),
    lease: join(directory, 'lease'),
  }
}

/** The journal of a run of any layout: v1.1 kept it in `execution/`. */
export function journalPath(directory: string): string {
  const old = join(directory, 'execution', 'journal.jsonl')
  const { journal } = runPaths(directory)
  return !existsSync(journal) && existsSync(old) ? old : journal
}

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
export function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    const above = dirname(absolute)
    return above === absolute ? absolute : join(realPath(above), basename(absolute))
  }
}

/** Compares absolute paths; a directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
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

/**
 * The error that `openRun` throws for a run whose journal is whole: a file, or a link that does not lead to a directory, has
 * the name of one of its directories.
 *
 * @returns Undefined when nothing is in the way; missing directories are made.
 */
export function blockedPathError(runDirectory: string): JournalError | undefined {
  const { lease, parts, blobs, invocations, toolExecutions, hooks, configuration } = runPaths(runDirectory)
  const directories = [lease, dirname(parts), blobs, invocations, toolExecutions, hooks, configuration]
  const path = directories.find(isBlocked)
  return path === undefined ? undefined : asWriteError({ code: 'EEXIST' }, path)
}

function isBlocked(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined && !statSync(path).isDirectory()
  } catch (error) {
    return ['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '') // a link to nothing, or in a circle
  }
}
