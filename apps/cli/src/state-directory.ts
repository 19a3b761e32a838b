import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { replaceFile } from '@delta/journal'
import { makeDirectories } from './make-directories.js'
import { explainSystemError, UsageError } from './usage.js'

/**
 * What is remembered for a user, because no workspace may decide it for itself: a folder of the state directory with a file
 * for each subject. One that is replaced whole needs no lock, and each is found without reading the others.
 */
export interface StateFolder {
  name: string
  /** What it holds, in the words of a message. */
  holds: string
}

/** What is remembered of a subject: whatever JSON its file holds. Undefined: nothing. */
export function readState(
  folder: StateFolder,
  subject: string,
  env: NodeJS.ProcessEnv,
): Readonly<Record<string, unknown>> | undefined {
  const path = fileOf(folder, subject, env)
  if (!existsSync(path)) return undefined
  try {
    return Object(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw new UsageError(`${path}: Cannot be read: ${reasonOf(cause)}\nDelete it, and try again.`, { cause })
  }
}

/**
 * Prepares to remember, so that what keeps it from being written is said before anything begins. The folder is 0700, its
 * files 0600; each is synced.
 *
 * @returns Remembers an entry of a subject, in place of an earlier one.
 * @throws {UsageError} It cannot be written.
 */
export function openState(
  folder: StateFolder,
  env: NodeJS.ProcessEnv,
): (subject: string, entry: object) => void {
  const directory = statePath(folder, env)
  trying(folder, directory, () => {
    refuseMissingHome(directory, env)
    makeDirectories(directory, 0o700)
    accessSync(directory, constants.W_OK)
  })
  return (subject, entry) => {
    const path = fileOf(folder, subject, env)
    trying(folder, path, () => replaceFile(path, `${JSON.stringify(entry)}\n`))
  }
}

/** Where a folder of the state directory lies; it need not exist. */
export function statePath({ name }: StateFolder, env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), name)
}

/** A subject is a path, or what somebody else's file says: it is no name for a file. */
function fileOf(folder: StateFolder, subject: string, env: NodeJS.ProcessEnv): string {
  return join(statePath(folder, env), `${createHash('sha256').update(subject).digest('hex')}.json`)
}

function trying({ holds }: StateFolder, path: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    throw new UsageError(
      `${path}: Cannot be written: ${reasonOf(cause)}\ndelta remembers there ${holds}. Set DELTA_STATE_DIR to a directory that you can write.`,
      { cause },
    )
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error
  return (explainSystemError(error) ?? explainSystemError(cause))?.split('\n')[0] ?? message
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
  return absoluteVariable('HOME', home)
}

/** A missing home directory is not created: the account was set up without one on purpose. */
function refuseMissingHome(directory: string, env: NodeJS.ProcessEnv): void {
  const home = homeIn(env)
  if (directory.startsWith(join(home, '.local/state/delta')) && !existsSync(home))
    throw new Error(`the home directory ${home} does not exist.`)
}

/** @throws {UsageError} The value of a variable that names a directory is a relative path. */
export function absoluteVariable(name: string, value: string): string {
  if (isAbsolute(value)) return value
  throw new UsageError(
    `${name}=${value}: it is not an absolute path, and would name another directory in each working directory.\nSet it to an absolute path.`,
  )
}
