import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { syncName, syncPath } from '@delta/durable'
import { makeDirectories } from '@delta/durable/internal'
import { runCommand } from '@delta/executor'
import { driverOf } from './drivers/driver-of.js'
import { SessionError } from './errors.js'
import { commitState, isName, rememberedVariables, secretsOf, variablesOf } from './state.js'
import { placeOf, type SessionMetadata, sessionPaths, writeMetadata } from './store.js'

/** Where a session lives, and what it begins with. */
export interface StartOptions {
  /** Where sessions live; created if it does not exist. */
  sessionsDirectory: string
  /** Where the session begins. */
  cwd: string
  /** The environment the session begins with; credentials in it are not stored. */
  env: NodeJS.ProcessEnv
  /** Names of more variables that hold secrets: their values are never stored. */
  secretNames?: readonly string[] | undefined
}

/** A session that was started. */
export interface StartedSession {
  /** What the other functions take as `id`. */
  sessionId: string
  /** The program, as the caller named it. */
  command: string
  /** Absolute: where the session begins. */
  workDir: string
  status: 'active'
}

/**
 * Starts a session. No process stays behind: the session is its directory.
 *
 * @param program - `bash`, `sh` or `python3`, or a path to one of them.
 * @example
 * const { sessionId } = await startSession('bash', { sessionsDirectory: '.sessions', cwd: '.', env: process.env })
 * @throws {SessionError} `ERR_SESSION_PROGRAM`: the program is not one of them, or it cannot be started.
 *   `ERR_SESSION_COMMAND`: a secret name is not the name of a variable.
 */
export async function startSession(program: string, options: StartOptions): Promise<StartedSession> {
  driverOf(program)
  const invalid = options.secretNames?.find((name) => !isName(name))
  if (invalid !== undefined)
    throw new SessionError('ERR_SESSION_COMMAND', `${JSON.stringify(invalid)} is not the name of a variable.`)
  const metadata = newMetadata(program, await locate(program, options), options)
  createDirectory(metadata, options)
  const { session_id: sessionId, command, work_dir: workDir, status } = metadata
  return { sessionId, command, workDir, status }
}

/**
 * The absolute path of a program, after a try that it runs. A command may change PATH as it likes, and the session still finds
 * its shell.
 */
async function locate(program: string, { cwd, env }: StartOptions): Promise<string> {
  const options = { cwd, env, timeoutMs: 10_000 }
  const found = await runCommand(['/bin/sh', '-c', 'command -v "$0"', program], options)
  if (found.exitCode !== 0)
    throw cannotStart(program, found.startError?.message ?? 'there is no such program in PATH')
  const path = resolve(cwd, found.stdout.text.replace(/\n$/, ''))
  const { status, exitCode, signal, startError, stderr } = await runCommand([path, '-c', ''], options)
  if (status === 'EXITED' && exitCode === 0) return path
  const end = exitCode === null ? `it was ended by ${signal}` : `it ended with exit code ${exitCode}`
  const silent = status === 'TIMEOUT' ? 'it did not end within 10 seconds' : end
  throw cannotStart(program, startError?.message ?? (stderr.text.trim() || silent))
}

function cannotStart(program: string, reason: string): SessionError {
  return new SessionError('ERR_SESSION_PROGRAM', `"${program}" cannot be started: ${reason}`)
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

/** Builds the session under another name, so that it exists either not at all or complete, after a power cut too. */
function createDirectory(metadata: SessionMetadata, { sessionsDirectory, env }: StartOptions): void {
  makeDirectories(resolve(sessionsDirectory), 0o700)
  const beside = sessionPaths(sessionsDirectory, `new-${metadata.session_id}`)
  mkdirSync(beside.directory, { mode: 0o700 })
  try {
    const caller = variablesOf(env)
    const { variables } = rememberedVariables(caller, caller, secretsOf(caller, metadata.secret_names))
    commitState(beside, { variables, workDirectory: metadata.work_dir }, 1)
    // The names by which people look for the state; both follow the link to the current one.
    for (const name of ['env', 'env.sh', 'work_dir.txt'])
      symlinkSync(join('current', name), join(beside.directory, name))
    const { path, inode } = placeOf(beside)
    const place = { path: join(dirname(path), metadata.session_id), inode }
    writeMetadata(beside, { ...metadata, place }) // which syncs the directory, too
    renameSync(beside.directory, sessionPaths(sessionsDirectory, metadata.session_id).directory)
    syncPath(sessionsDirectory)
    syncName(sessionsDirectory)
  } catch (error) {
    rmSync(beside.directory, { recursive: true, force: true })
    throw error
  }
}
