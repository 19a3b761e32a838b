import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { replaceFile } from '@delta/durable'
import { isInside, makeDirectories, realPath } from '@delta/durable/internal'
import { explainSystemError, UsageError } from './usage.js'

/**
 * A file in the user's state directory, which holds what no workspace may decide for itself: a JSON object a line, of which
 * the last about a subject counts.
 */
export interface StateFile<Entry extends StateEntry> {
  name: string
  /** What it holds, in the words of a message. */
  holds: string
  /** What each entry has. */
  fields: Readonly<Partial<Record<keyof Entry, 'string' | 'number'>>>
  /** Of several entries with the same value of this field, the last counts. */
  subject: keyof Entry
}

interface StateEntry {
  /** Once nothing is there, the entry can be dropped. */
  path: string
}

/** Every that many lines the file is rewritten without the entries that no longer count. */
const LINES_PER_REWRITE = 100

/**
 * What a file of the state directory says, oldest first. A missing one says nothing.
 *
 * @returns `problem`: why not all of it could be read, for a person.
 */
export function readState<Entry extends StateEntry>(
  file: StateFile<Entry>,
  env: NodeJS.ProcessEnv,
): { entries: Entry[]; problem?: string } {
  const path = statePath(file, env)
  try {
    return existsSync(path) ? parseState(file, path, readFileSync(path, 'utf8')) : { entries: [] }
  } catch (error) {
    return { entries: [], problem: `${path} is ignored: ${explainSystemError(error) ?? error}` }
  }
}

function parseState<Entry extends StateEntry>(
  file: StateFile<Entry>,
  path: string,
  content: string,
): { entries: Entry[]; problem?: string } {
  const bySubject = new Map<unknown, Entry>()
  const unreadable: number[] = []
  for (const [index, text] of content.split('\n').entries()) {
    if (text === '') continue
    const entry = parseEntry(file, text)
    if (entry === undefined) unreadable.push(index + 1)
    else bySubject.set(entry[file.subject], entry)
  }
  const entries = [...bySubject.values()]
  if (unreadable.length === 0) return { entries }
  const problem = `${path}:${unreadable[0]}: The line is not an entry and is ignored. Delete it.`
  return { entries, problem }
}

/** Undefined: the line is not an entry. */
function parseEntry<Entry extends StateEntry>({ fields }: StateFile<Entry>, text: string): Entry | undefined {
  try {
    const entry = JSON.parse(text) as Entry
    const names = Object.keys(fields) as (keyof Entry)[]
    return names.every((name) => typeof entry[name] === fields[name]) ? entry : undefined
  } catch {
    return undefined
  }
}

/**
 * Prepares to add to a file of the state directory, so that what keeps it from being written is said before anything begins.
 * The directory is 0700, the file 0600. An entry is one synced line at the end; every hundredth rewrites the file by a
 * rename, without what no longer counts.
 *
 * @throws {UsageError} It cannot be written.
 */
export function openState<Entry extends StateEntry>(
  file: StateFile<Entry>,
  env: NodeJS.ProcessEnv,
): { add(entry: Entry): void } {
  const path = statePath(file, env)
  trying(file, path, () => {
    makeStateDirectory(env)
    closeSync(openSync(path, 'a', 0o600))
  })
  return { add: (entry) => trying(file, path, () => append(file, path, `${JSON.stringify(entry)}\n`)) }
}

/** Another process may have renamed a new file into place meanwhile, which then lacks the line. */
function append<Entry extends StateEntry>(file: StateFile<Entry>, path: string, lines: string): void {
  const descriptor = openSync(path, 'a+', 0o600)
  try {
    writeSync(descriptor, `${endsLine(descriptor) ? '' : '\n'}${lines}`)
    fsyncSync(descriptor)
    if (!isStillAt(path, descriptor)) append(file, path, lines)
    else if (lineOf(lines, contentOf(descriptor)) % LINES_PER_REWRITE === 0) rewrite(file, path, descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function rewrite<Entry extends StateEntry>(file: StateFile<Entry>, path: string, descriptor: number): void {
  const content = contentOf(descriptor)
  const current = parseState(file, path, content).entries.filter((entry) => existsSync(entry.path))
  if (!isStillAt(path, descriptor)) return
  replaceFile(path, current.map((each) => `${JSON.stringify(each)}\n`).join(''))
  const late = contentOf(descriptor).slice(content.length)
  if (late !== '') append(file, path, late)
}

function isStillAt(path: string, descriptor: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.ino === fstatSync(descriptor).ino
}

/** The whole file, wherever the descriptor stands. */
function contentOf(descriptor: number): string {
  const bytes = Buffer.alloc(fstatSync(descriptor).size)
  return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, bytes.length, 0))
}

/** Its number, by which of several processes only one rewrites the file. */
function lineOf(line: string, content: string): number {
  return content.slice(0, content.lastIndexOf(line)).split('\n').length
}

function trying<Entry extends StateEntry>(file: StateFile<Entry>, path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    const reason = explainSystemError(cause)?.split('\n')[0] ?? (cause as Error).message
    throw new UsageError(
      `${path}: Cannot be written: ${reason}\ndelta remembers there ${file.holds}. Set DELTA_STATE_DIR to a directory that you can write.`,
      { cause },
    )
  }
}

/** False after a line that a crash or a full disk cut off. */
function endsLine(descriptor: number): boolean {
  const { size } = fstatSync(descriptor)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(descriptor, last, 0, 1, size - 1) === 1 && last.toString() === '\n')
}

/** Where a file of the state directory lies; it need not exist. */
export function statePath({ name }: { name: string }, env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), name)
}

/**
 * The user's state directory: `DELTA_STATE_DIR`, else `delta` in `XDG_STATE_HOME`, else `~/.local/state/delta`. It need not
 * exist.
 *
 * @throws {UsageError} `DELTA_STATE_DIR` is not absolute: it would be another directory for each command.
 */
function stateDirectory({ DELTA_STATE_DIR: own, XDG_STATE_HOME: shared, ...env }: NodeJS.ProcessEnv): string {
  if (own) return absoluteVariable('DELTA_STATE_DIR', own)
  if (shared && isAbsolute(shared)) return join(shared, 'delta') // the XDG specification: ignore a relative one
  return join(homeIn(env), '.local/state/delta')
}

/**
 * Refuses a state directory in the workspace, where the agent's tools could write. Only the usual one is accepted there, where
 * the workspace holds the home directory.
 *
 * @throws {UsageError} It lies there.
 */
export function checkStateDirectory(workDirectory: string, env: NodeJS.ProcessEnv): void {
  const directory = stateDirectory(env)
  const isUsual = directory === stateDirectory({ ...env, DELTA_STATE_DIR: undefined })
  if (!isWithin(directory, workDirectory) || (isUsual && isWithin(homeIn(env), workDirectory))) return
  throw new UsageError(
    `${directory}: The state directory lies in the workspace, ${workDirectory}, where tools could write it.\nSet DELTA_STATE_DIR to a directory outside the workspace.`,
  )
}

/** Compares absolute paths, without symbolic links as far as they exist. */
function isWithin(path: string, directory: string): boolean {
  return isInside(realPath(path), realPath(directory))
}

/** A relative one would be another directory in each workspace. */
function homeIn({ HOME: home = homedir() }: NodeJS.ProcessEnv): string {
  return isAbsolute(home) ? home : userInfo().homedir
}

/** A missing home directory is not created: the account was set up without one on purpose. */
function makeStateDirectory(env: NodeJS.ProcessEnv): void {
  const directory = stateDirectory(env)
  const home = homeIn(env)
  if (directory === join(home, '.local/state/delta') && !existsSync(home))
    throw new Error(`the home directory ${home} does not exist.`)
  makeDirectories(directory, 0o700)
}

/** @throws {UsageError} The value of a variable that names a directory is a relative path. */
export function absoluteVariable(name: string, value: string): string {
  if (isAbsolute(value)) return value
  throw new UsageError(
    `${name}=${value}: it is not an absolute path, and would name another directory in each working directory.\nSet it to an absolute path.`,
  )
}
