import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommandOutcome, CREDENTIAL_NAMES, runCommand } from '@delta/executor/command'
import { collectState } from './collect.js'
import type { Driver } from './drivers/driver.js'
import { driverOf } from './drivers/index.js'
import { secretValues, type Variables, variablesFor, variablesOf } from './environment.js'
import { SessionError } from './errors.js'
import { recordCommand } from './history.js'
import { livingJobs, markOf, SESSION_VARIABLE } from './jobs.js'
import { lockSession } from './lock.js'
import { readMetadata, type SessionMetadata, writeMetadata } from './metadata.js'
import { existingSession, type SessionPaths } from './paths.js'
import { type ExecResult, processResult } from './result.js'
import { readState, type StoredState } from './state.js'
import { makeWorkDirectory, removeWorkDirectory, settleCrash } from './work.js'

export interface ExecOptions {
  sessionsDirectory: string
  /** Of the caller: gives the command what the session never stores (credentials, the run's variables). */
  environment: NodeJS.ProcessEnv
  /** Default: no limit. What ran too long leaves the state as it was. */
  timeoutMs?: number
  /** How much of stdout, and of stderr, the result holds; the rest is in a file. Default 16384. */
  maxOutputBytes?: number
  signal?: AbortSignal
}

const DEFAULT_MAX_OUTPUT_BYTES = 16_384

/** One command in one session, with everything that is known before it runs. */
export interface Execution {
  paths: SessionPaths
  metadata: SessionMetadata
  driver: Driver
  state: StoredState
  /** How many commands the session has run, this one included. */
  number: number
  work: string
  caller: Variables
  workDirectory: string
  notices: string[]
}

/**
 * Runs one command where the last one left off, and remembers where it ends.
 *
 * Commands of one session wait for each other. Whatever the command does is a result: an exit code,
 * a syntax error, a timeout. Its state counts once it has ended by itself; a command that was killed,
 * or that replaced its shell, leaves the state as it was and a notice.
 *
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_DAMAGED`;
 *   `ERR_SESSION_COMMAND`: no process can be given this text; `ERR_SESSION_PROGRAM`: the shell is gone;
 *   `ERR_SESSION_ABORTED`: `signal` came before the command was started.
 */
export async function execInSession(id: string, command: string, options: ExecOptions): Promise<ExecResult> {
  if (command.includes('\0')) {
    throw new SessionError(
      'ERR_SESSION_COMMAND',
      'The command holds a NUL character, which no shell accepts.',
    )
  }
  const paths = existingSession(options.sessionsDirectory, id)
  const unlock = await lockSession(paths.lock, options.signal)
  try {
    return await runLocked(paths, command, options)
  } finally {
    unlock()
  }
}

async function runLocked(paths: SessionPaths, command: string, options: ExecOptions): Promise<ExecResult> {
  const started = new Date()
  const execution = await prepare(paths, options)
  const { metadata, caller, number, work } = execution
  const outcome = await run(execution, command, options)
  const collected = await collectState(execution, outcome)
  const result: ExecResult = { ...processResult(outcome), ...collected.result }
  removeWorkDirectory(work)
  tidyOutputs(outcome, collected.leftRunning)
  writeMetadata(paths, {
    ...metadata,
    last_executed_at: started.toISOString(),
    execution_count: number,
    work_dir: result.work_dir,
    background_jobs: collected.jobs,
  })
  const secrets = secretValues(caller, metadata.secret_names)
  recordCommand(paths, { command, started, result, secrets })
  return result
}

async function prepare(paths: SessionPaths, { environment }: ExecOptions): Promise<Execution> {
  const metadata = readMetadata(paths)
  const number = metadata.execution_count + 1
  await settleCrash(paths, markOf(metadata.session_id, number))
  metadata.background_jobs = livingJobs(metadata.background_jobs)
  const driver = driverOf(metadata.command)
  const state = readState(paths, driver.stateFile)
  const workDirectory = nearestDirectory(state.workDirectory)
  const notices =
    workDirectory === state.workDirectory
      ? []
      : [`${state.workDirectory} no longer exists; the command ran in ${workDirectory}.`]
  const work = makeWorkDirectory(paths)
  return {
    paths,
    metadata,
    driver,
    state,
    number,
    work,
    caller: variablesOf(environment),
    workDirectory,
    notices,
  }
}

async function run(execution: Execution, command: string, options: ExecOptions): Promise<CommandOutcome> {
  const { paths, metadata, driver, state, number, work, caller, workDirectory } = execution
  mkdirSync(paths.output, { recursive: true, mode: 0o700 })
  const launch = driver.prepare({
    program: metadata.program,
    session: paths.directory,
    command,
    work,
    state: state.ownPath(driver.stateFile),
    number,
    variables: variablesFor(state.variables, caller, metadata.secret_names),
    secretNames: [...CREDENTIAL_NAMES, ...metadata.secret_names],
  })
  const outcome = await runCommand(launch.argv, {
    cwd: workDirectory,
    env: { ...launch.env, [SESSION_VARIABLE]: `${metadata.session_id}:${number}` },
    stdoutPath: join(paths.output, `${number}.stdout`),
    stderrPath: join(paths.output, `${number}.stderr`),
    keepBytes: options.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    ...(options.signal && { signal: options.signal }),
  })
  if (outcome.startError) {
    const message = `"${metadata.command}" cannot be started: ${outcome.startError.message}`
    throw new SessionError('ERR_SESSION_PROGRAM', message)
  }
  return outcome
}

/** Outputs that are whole in the result need no file, unless something still writes to it. */
function tidyOutputs({ stdout, stderr }: CommandOutcome, inUse: boolean): void {
  for (const { path, omittedBytes } of [stdout, stderr]) {
    if (path !== undefined && omittedBytes === 0 && !inUse) rmSync(path, { force: true })
  }
}

/** The directory, or the nearest one above it that still exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path))
}
