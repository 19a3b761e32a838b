import { closeSync, existsSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { replaceFile } from '@delta/journal'
import { makeDirectories } from './make-directories.js'
import { explainSystemError } from './terminal/system-error.js'
import { UsageError } from './usage/usage-error.js'

/**
 * A file in the user's state directory, which holds what no workspace may decide for itself: a JSON object a line, of which
 * the last about a subject counts.
 */
export interface StateFile<Entry> {
  name: string
  /** What it holds, in the words of a message. */
  holds: string
  /** Undefined: the line is not an entry. */
  parse(line: unknown): Entry | undefined
  subject(entry: Entry): string
  /** False: its subject is gone, and the entry can be dropped. */
  isCurrent(entry: Entry): boolean
}

/** Every that many lines the file is rewritten without the entries that no longer count. */
const LINES_PER_REWRITE = 100

/**
 * What a file of the state directory says, oldest first. A missing one says nothing.
 *
 * @returns `problem`: why not all of it could be read, for a person.
 */
export function readState<Entry>(
  file: StateFile<Entry>,
  env: NodeJS.ProcessEnv,
): { entries: Entry[]; lines: number; problem?: string } {
  const path = join(stateDirectory(env), file.name)
  let texts: string[]
  try {
    if (!existsSync(path)) return { entries: [], lines: 0 }
    texts = readFileSync(path, 'utf8').split('\n').filter(Boolean)
  } catch (error) {
    return { entries: [], lines: 0, problem: `${path} is ignored: ${explainSystemError(error) ?? error}` }
  }
  const bySubject = new Map<string, Entry>()
  const unreadable: number[] = []
  for (const [index, text] of texts.entries()) {
    const entry = file.parse(parseJson(text))
    if (entry === undefined) unreadable.push(index + 1)
    else bySubject.set(file.subject(entry), entry)
  }
  const entries = [...bySubject.values()]
  if (unreadable.length === 0) return { entries, lines: texts.length }
  const problem = `${path}:${unreadable[0]}: The line is not an entry and is ignored. Delete it.`
  return { entries, lines: texts.length, problem }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
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
export function openState<Entry>(
  file: StateFile<Entry>,
  env: NodeJS.ProcessEnv,
): { add(entry: Entry): void } {
  const path = join(stateDirectory(env), file.name)
  trying(file, path, () => {
    makeStateDirectory(env)
    closeSync(openSync(path, 'a', 0o600))
  })
  return { add: (entry) => trying(file, path, () => append(file, path, entry, readState(file, env))) }
}

function append<Entry>(
  { isCurrent }: StateFile<Entry>,
  path: string,
  entry: Entry,
  { entries, lines }: { entries: Entry[]; lines: number },
): void {
  const line = `${JSON.stringify(entry)}\n`
  if ((lines + 1) % LINES_PER_REWRITE === 0) {
    const current = entries.filter(isCurrent).map((each) => `${JSON.stringify(each)}\n`)
    replaceFile(path, [...current, line].join(''))
    return
  }
  const descriptor = openSync(path, 'a', 0o600)
  try {
    writeSync(descriptor, `${endsLine(path) ? '' : '\n'}${line}`)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function trying<Entry>(file: StateFile<Entry>, path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    throw new UsageError(
      `${path}: Cannot be written: ${reasonOf(cause)}\ndelta remembers there ${file.holds}. Set DELTA_STATE_DIR to a directory that you can write.`,
      { cause },
    )
  }
}

function reasonOf(cause: unknown): string {
  return explainSystemError(cause)?.split('\n')[0] ?? (cause as Error).message
}

/** False after a line that a crash or a full disk cut off. */
function endsLine(path: string): boolean {
  return statSync(path).size === 0 || readFileSync(path, 'utf8').endsWith('\n')
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

function homeIn({ HOME: home = homedir() }: NodeJS.ProcessEnv): string {
  return home
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
