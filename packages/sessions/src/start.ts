import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeDirectories, syncName, syncPath } from '@delta/durable'
import { type CommandOutcome, runCommand } from '@delta/executor/command'
import { driverOf } from './drivers/driver-of.js'
import { SessionError } from './errors.js'
import { commitState, isName, rememberedVariables, secretsOf, variablesOf } from './state.js'
import { type SessionMetadata, sessionPaths, writeMetadata } from './store.js'

const LONGEST_START_MS = 10_000

/** Where a session lives, and what it begins with. */
export interface StartOptions {
  /** Where sessions live; made if it does not exist. */
  sessionsDirectory: string
  /** Where the session begins. */
  cwd: string
  /** The environment the session begins with; credentials in it are not stored. */
  env: NodeJS.ProcessEnv
  /** Names of more variables whose values are never stored. */
  secretNames?: readonly string[] | undefined
}

/** What `delta-sessions start` prints. */
export interface StartedSession {
  /** What the other functions take as `id`. */
  sessionId: string
  /** The program, as it was given. */
  command: string
  /** Absolute: where the session begins. */
  workDir: string
  status: 'active'
}

/**
 * Makes a session. No process stays behind: the session is its directory.
 *
 * @param program - `bash`, `sh` or `python3`, or a path to one of them.
 * @throws {SessionError} `ERR_SESSION_PROGRAM`: it is none of them, or it cannot be started.
 *   `ERR_SESSION_COMMAND`: a secret name is no name of a variable.
 */
export async function startSession(program: string, options: StartOptions): Promise<StartedSession> {
  driverOf(program)
  const odd = options.secretNames?.find((name) => !isName(name))
  if (odd !== undefined)
    throw new SessionError('ERR_SESSION_COMMAND', `${JSON.stringify(odd)} is not the name of a variable.`)
  const path = await locate(program, options)
  const {
    session_id: sessionId,
    command,
    work_dir: workDir,
    status,
  } = createDirectory(program, path, options)
  return { sessionId, command, workDir, status }
}

/**
 * The absolute path of a program that was seen to run. A command may change PATH as it likes, and the session still finds
 * its shell.
 */
async function locate(program: string, { cwd, env }: StartOptions): Promise<string> {
  const options = { cwd, env, timeoutMs: LONGEST_START_MS }
  const found = await runCommand(['/bin/sh', '-c', 'command -v "$0"', program], options)
  if (found.exitCode !== 0)
    throw cannotStart(program, found.startError?.message ?? 'there is no such program in PATH')
  const path = resolve(cwd, found.stdout.text.replace(/\n$/, ''))
  const outcome = await runCommand([path, '-c', ''], options)
  if (outcome.status === 'EXITED' && outcome.exitCode === 0) return path
  throw cannotStart(program, outcome.startError?.message ?? (outcome.stderr.text.trim() || endOf(outcome)))
}

/** How a program ended that said nothing. */
function endOf({ status, exitCode, signal }: CommandOutcome): string {
  if (status === 'TIMEOUT') return `it did not end within ${LONGEST_START_MS / 1000} seconds`
  return exitCode === null ? `it was ended by ${signal}` : `it ended with exit code ${exitCode}`
}

function cannotStart(program: string, reason: string): SessionError {
  return new SessionError('ERR_SESSION_PROGRAM', `"${program}" cannot be started: ${reason}`)
}

/** Builds the session under another name, so that it exists either not at all or complete, after a power cut too. */
function createDirectory(program: string, path: string, options: StartOptions): SessionMetadata {
  const { sessionsDirectory, env, secretNames = [] } = options
  makeDirectories(resolve(sessionsDirectory), 0o700)
  const metadata = newMetadata(program, path, options)
  const beside = sessionPaths(sessionsDirectory, `new-${metadata.session_id}`)
  mkdirSync(beside.directory, { mode: 0o700 })
  try {
    const caller = variablesOf(env)
    const { variables } = rememberedVariables(caller, caller, secretsOf(caller, secretNames))
    commitState(beside, { variables, workDirectory: metadata.work_dir }, 1)
    // The names by which people look for the state; both follow the link to the current one.
    for (const name of ['env', 'work_dir.txt'])
      symlinkSync(join('current', name), join(beside.directory, name))
    writeMetadata(beside, metadata) // which syncs the directory, too
    renameSync(beside.directory, sessionPaths(sessionsDirectory, metadata.session_id).directory)
    syncPath(sessionsDirectory)
    syncName(sessionsDirectory)
    return metadata
  } catch (error) {
    rmSync(beside.directory, { recursive: true, force: true })
    throw error
  }
}

function newMetadata(program: string, path: string, options: StartOptions): SessionMetadata {
  const { cwd, env, secretNames = [] } = options
  return {
    session_id: `sess_${Math.random().toString(36).slice(2, 14)}`,
    command: program,
    program: path,
    created_at: new Date().toISOString(),
    last_executed_at: null,
    status: 'active',
    work_dir: resolve(cwd),
    execution_count: 0,
    run_id: env.DELTA_RUN_ID,
    secret_names: [...secretNames],
    background_jobs: [],
  }
}
