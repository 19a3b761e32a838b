import { chmodSync, closeSync, existsSync, lstatSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createFile } from '@delta/durable'
import { makeDirectories } from '@delta/durable/internal'
import { asWriteError, JournalError } from './errors.js'
import { openToRead, readAt, replaceFile, syncName, writing } from './files.js'
import { runPaths } from './run-paths.js'
import { DELTA_DIRECTORY } from './runs-directory.js'

/** The version of the directory layout this package writes. */
const LAYOUT_VERSION = '1.10'

/**
 * Creates the directory that holds the runs (0700) when it is missing; one outside the workspace with the directories above
 * it. In `.delta`, and in a directory that it has created, it leaves a `.gitignore`.
 */
export function makeRunsDirectory(directory: string, { sync }: { sync: boolean }): void {
  const isDelta = basename(directory) === DELTA_DIRECTORY
  if (isDelta && !existsSync(dirname(directory))) throw asWriteError({ code: 'ENOENT' }, directory) // there is no workspace
  const created = makeDirectory(directory)
  if (sync) for (const each of created) syncName(each)
  if (isDelta) keepPrivate(directory, { sync })
  else if (created.length > 0) ignoreInGit(directory, { sync })
}

/** Makes what is missing of a run's directories; copies of a run lose the empty ones. */
export function makeRunDirectory(directory: string): void {
  for (const part of ['', 'io', 'io/invocations', 'io/tool_executions', 'io/hooks'])
    makeDirectory(join(directory, part))
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

function makeDirectory(path: string): string[] {
  return writing(path, () => makeDirectories(path, 0o700))
}

/**
 * Makes `.delta` 0700, also one that another program made, and leaves a `.gitignore` there.
 *
 * @throws {JournalError} `ERR_RUNS_DIRECTORY`: it is a link, which may have come with the workspace; nothing is written where
 *   that leads, nor are runs believed that lie there.
 */
export function keepPrivate(directory: string, { sync }: { sync: boolean }): void {
  refuseLink(directory)
  const { mode, uid } = statSync(directory)
  if (uid === process.geteuid?.() && (mode & 0o777) !== 0o700)
    writing(directory, () => chmodSync(directory, 0o700))
  ignoreInGit(directory, { sync })
}

/** @throws {JournalError} `ERR_RUNS_DIRECTORY` */
function refuseLink(directory: string): void {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isSymbolicLink()) return
  throw new JournalError(
    'ERR_RUNS_DIRECTORY',
    `${directory}: It is a link, which may have come with the workspace.\nRemove the link. To keep the runs elsewhere, name another runs directory.`,
    { path: directory },
  )
}

/**
 * Refuses a link in the place of a run, or of the `.delta` that holds it, before something is written there.
 *
 * @throws {JournalError} `ERR_RUNS_DIRECTORY`
 */
export function refuseLinkedRun(runDirectory: string): void {
  refuseLink(runDirectory)
  const above = dirname(runDirectory)
  const runs = basename(above) === 'runs' ? dirname(above) : above // as v1.1 kept them
  if (basename(runs) === DELTA_DIRECTORY) for (const each of new Set([above, runs])) refuseLink(each)
}

/**
 * A notice about a `.delta` of another user; undefined for any other directory. It is no reason to refuse a run: on a shared
 * disk, or for root, owners are often others.
 */
export function ownerNotice(directory: string): string | undefined {
  const user = process.geteuid?.()
  const { uid } = statSync(directory)
  if (basename(directory) !== DELTA_DIRECTORY || user === undefined || uid === user) return undefined
  return `${directory}: It belongs to another user (${uid}), who can remove or replace the runs in it. To keep them elsewhere, name another runs directory.`
}

/** Keeps git from seeing the runs. A `.gitignore` that is there is the user's. */
function ignoreInGit(directory: string, { sync }: { sync: boolean }): void {
  try {
    createFile(join(directory, '.gitignore'), '*\n', { sync })
  } catch {
    // it is there, or cannot be written; in that case the run's own files say so
  }
}

/**
 * @throws {JournalError} `ERR_LAYOUT_NEWER`: a newer version of us wrote here, and we must not. `ERR_RUNS_DIRECTORY`: `VERSION`
 *   is not a file of ours.
 */
export function checkLayout(directory: string): void {
  const path = join(directory, 'VERSION')
  const version = versionIn(path)
  if (version === undefined || comparedToOurs(version) <= 0) return
  throw new JournalError(
    'ERR_LAYOUT_NEWER',
    `${path}: The layout is version ${version}; this program writes ${LAYOUT_VERSION} and would damage it.\n` +
      'It can still be read. To write, use the newer version.',
    { path },
  )
}

/** Names the newest run in `LATEST`, which is a convenience: no run needs it. */
export function announceRun(directory: string, runId: string): void {
  markLayout(directory)
  const path = join(directory, 'LATEST')
  const isBlocked = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() // then the newest run is the latest
  if (!isBlocked) replaceFile(path, `${runId}\n`)
}

/** Writes `VERSION` when there is none, or an older one: an older program would not know what a new run holds. */
export function markLayout(directory: string): void {
  const path = join(directory, 'VERSION')
  const version = versionIn(path)
  if (version === undefined || comparedToOurs(version) < 0) replaceFile(path, `${LAYOUT_VERSION}\n`)
}

const MOST_VERSION_BYTES = 100

/**
 * Undefined where there is no file, or an empty one.
 *
 * @throws {JournalError} `ERR_RUNS_DIRECTORY`: something else is there, which may have come with the workspace. Nothing of it is
 *   shown: a link may lead to any file.
 */
function versionIn(path: string): string | undefined {
  const what = lstatSync(path, { throwIfNoEntry: false })
  if (what === undefined) return undefined
  const isFile = what.isFile() && what.size <= MOST_VERSION_BYTES
  const version = isFile ? beginningOf(path).trim() : 'not read'
  if (/^[\d.]*$/.test(version)) return version || undefined
  throw new JournalError(
    'ERR_RUNS_DIRECTORY',
    `${path}: It is not a file with the version of the layout, such as ${LAYOUT_VERSION}.\nRemove it: it is written again.`,
    { path },
  )
}

function beginningOf(path: string): string {
  const file = openToRead(path)
  if (file === undefined) return ''
  try {
    return readAt(file, 0, MOST_VERSION_BYTES).toString('utf8')
  } finally {
    closeSync(file)
  }
}

/** Above 0 for a newer version than the one this package writes, below 0 for an older one. */
function comparedToOurs(version: string): number {
  const theirs = version.split('.').map(Number)
  const differences = LAYOUT_VERSION.split('.').map((ours, index) => (theirs[index] ?? 0) - Number(ours))
  return differences.find((difference) => difference !== 0) ?? 0
}
