import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { createFile, readIfThere, replaceFile } from '@delta/durable'
import { isInside, makeDirectories, namesIn, realPath, removeFile } from '@delta/durable/internal'
import { WorkspaceError } from './errors.js'
import { explainSystemError } from './system-error.js'

/**
 * The user's state directory holds what no workspace may decide for itself. One file is one fact: a JSON object whose `path` it is
 * about.
 */
const KINDS = {
  runs: 'which runs are yours',
  evals: 'which evaluations are yours',
  plans: 'what you planned for them',
  env: 'which .env files of workspaces and projects you said yes to',
  workspaces: 'where the runs of a workspace are kept',
}

type Kind = keyof typeof KINDS

/** What each fact says at least. */
interface Fact {
  /** Once nothing is there, the fact can be dropped. */
  path: string
}

/** Where the facts of a kind lie; nothing of it need exist. */
export function factsPath(kind: Kind, env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), kind)
}

/**
 * Reads a fact.
 *
 * @returns Undefined if there is none.
 * @throws {WorkspaceError} It cannot be read, or is not what `writeFact` writes.
 */
export function readFact<Known extends Fact>(
  kind: Kind,
  name: string,
  env: NodeJS.ProcessEnv,
): Known | undefined {
  const path = join(factsPath(kind, env), name)
  const bytes = trying(kind, path, 'read', () => readIfThere(path))
  if (bytes === undefined) return undefined
  try {
    const fact = JSON.parse(bytes.toString()) as Known
    if (typeof fact.path === 'string') return fact
  } catch {
    // the same as an object without a path
  }
  throw new WorkspaceError(`${path}: It is not what Delta writes there. Delete it.`)
}

/**
 * Makes sure that a fact can be written, before anything begins that needs it.
 *
 * @throws {WorkspaceError} The directory is read-only, full, a file, or cannot be made.
 */
export function prepareFacts(kind: Kind, env: NodeJS.ProcessEnv): void {
  const directory = factsPath(kind, env)
  trying(kind, directory, 'written', () => {
    makeFactsDirectory(directory, env)
    const probe = join(directory, `.probe-${randomBytes(8).toString('hex')}`)
    try {
      createFile(probe, ' '.repeat(USUAL_BYTES), { sync: false })
    } finally {
      removeFile(probe)
    }
  })
}

/** More than a fact has, unless very much was set: a disk that is full shows itself. */
const USUAL_BYTES = 4096

/** Writes a fact whole, safe against a power cut. */
export function writeFact<Known extends Fact>(
  kind: Kind,
  name: string,
  fact: Known,
  env: NodeJS.ProcessEnv,
): void {
  const directory = factsPath(kind, env)
  const path = join(directory, name)
  trying(kind, path, 'written', () => {
    makeFactsDirectory(directory, env)
    forgetSome(directory, name)
    replaceFile(path, `${JSON.stringify(fact)}\n`)
  })
}

export function removeFact(kind: Kind, name: string, env: NodeJS.ProcessEnv): void {
  const path = join(factsPath(kind, env), name)
  trying(kind, path, 'removed', () => removeFile(path))
}

const FORGOTTEN_AFTER_MS = 90 * 24 * 60 * 60 * 1000

/** Looks at few files, chosen by the random name of the new one: of those that are old, it removes whose path is gone. */
function forgetSome(directory: string, name: string): void {
  for (const other of namesIn(directory).filter((each) => each.startsWith(name.slice(0, 2)))) {
    const path = join(directory, other)
    const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - written > FORGOTTEN_AFTER_MS && !existsSync(subjectOf(path))) removeFile(path)
  }
}

/** The path that a fact is about; of a damaged one its own, so that it stays for a person to see. */
function subjectOf(path: string): string {
  try {
    return (JSON.parse(readIfThere(path)?.toString() ?? '') as Fact).path
  } catch {
    return path
  }
}

function trying<Result>(kind: Kind, path: string, what: string, attempt: () => Result): Result {
  try {
    return attempt()
  } catch (cause) {
    const reason = explainSystemError(cause)?.split('\n')[0] ?? (cause as Error).message
    throw new WorkspaceError(
      `${path}: Cannot be ${what}: ${reason}\nDelta remembers there ${KINDS[kind]}. Set DELTA_STATE_DIR to a directory that you can write.`,
      { cause },
    )
  }
}

/**
 * The user's state directory: `DELTA_STATE_DIR`, else `delta` in `XDG_STATE_HOME`, else `~/.local/state/delta`.
 *
 * @throws {WorkspaceError} `DELTA_STATE_DIR` is not absolute: it would be another directory for each command.
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
 * @throws {WorkspaceError} It lies there.
 */
export function checkStateDirectory(workDirectory: string, env: NodeJS.ProcessEnv): void {
  const directory = stateDirectory(env)
  const isUsual = directory === stateDirectory({ ...env, DELTA_STATE_DIR: undefined })
  if (!isWithin(directory, workDirectory) || (isUsual && isWithin(homeIn(env), workDirectory))) return
  throw new WorkspaceError(
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
function makeFactsDirectory(directory: string, env: NodeJS.ProcessEnv): void {
  const home = homeIn(env)
  if (isWithin(directory, home) && !existsSync(home))
    throw new Error(`the home directory ${home} does not exist.`)
  makeDirectories(directory, 0o700)
}

/** @throws {WorkspaceError} The value of a variable that names a directory is a relative path. */
export function absoluteVariable(name: string, value: string): string {
  if (isAbsolute(value)) return value
  throw new WorkspaceError(
    `${name}=${value}: it is not an absolute path, and would name another directory in each working directory.\nSet it to an absolute path.`,
  )
}
