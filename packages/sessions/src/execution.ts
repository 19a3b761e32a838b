import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommandOutcome, CREDENTIAL_NAMES, runCommand } from '@delta/executor/command'
import type { Driver } from './drivers/driver.js'
import { driverOf } from './drivers/index.js'
import { type Variables, variablesFor, variablesOf } from './environment.js'
import { SessionError } from './errors.js'
import { livingJobs, markOf, SESSION_VARIABLE } from './jobs.js'
import { readMetadata, type SessionMetadata } from './metadata.js'
import type { SessionPaths } from './paths.js'
import { readState, type StoredState } from './state.js'
import { makeWorkDirectory, settleCrash } from './work.js'

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

/** Reads the session, clears up after a crash, and makes a work directory. Called with the session locked. */
export async function prepareExecution(
  paths: SessionPaths,
  { environment }: ExecOptions,
): Promise<Execution> {
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

/** @throws {SessionError} `ERR_SESSION_PROGRAM`: the shell cannot be started any more. */
export async function runExecution(
  execution: Execution,
  command: string,
  options: ExecOptions,
): Promise<CommandOutcome> {
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

/** The directory, or the nearest one above it that still exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path))
}
