import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CommandOutcome, runCommand } from '@delta/executor/command'
import type { Driver, DriverCall, Launch } from './drivers/driver.js'
import { driverOf } from './drivers/driver-of.js'
import {
  largeNotice,
  type Secrets,
  secretsOf,
  totalNotice,
  type Variables,
  variablesFor,
  variablesOf,
} from './environment.js'
import { SessionError } from './errors.js'
import { livingJobs, makeWorkFile, markOf, SESSION_VARIABLE, settleCrash } from './jobs.js'
import { readState, type StoredState } from './state.js'
import { readMetadata, type SessionMetadata, type SessionPaths } from './store.js'

/** Where a session is, and what ends a command in it. */
export interface ExecOptions {
  /** Where sessions live. */
  sessionsDirectory: string
  /** Of the caller: gives the command what the session never stores (credentials, the run's variables). */
  environment: NodeJS.ProcessEnv
  /** In milliseconds. Default: no limit. What ran too long leaves the state as it was. */
  timeoutMs?: number | undefined
  /** How many bytes of stdout, and of stderr, the result holds; the rest is in a file. Default 16384. */
  maxOutputBytes?: number | undefined
  /** Ends the command, which is a result; before it was started, `ERR_SESSION_ABORTED`. */
  signal?: AbortSignal | undefined
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
  /** The file for what the command leaves. */
  work: string
  caller: Variables
  secrets: Secrets
  workDirectory: string
  notices: string[]
}

/** Reads the session, clears up after a crash, and makes a work file. Called with the session locked. */
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
  // A name that is no text was garbled when it was read; the shell knows it.
  const notices =
    workDirectory === state.workDirectory || state.workDirectory.includes('\ufffd')
      ? []
      : [`${state.workDirectory} no longer exists; the command ran in ${workDirectory}.`]
  const caller = variablesOf(environment)
  return {
    paths,
    metadata,
    driver,
    state,
    number,
    work: makeWorkFile(paths),
    caller,
    secrets: secretsOf(caller, metadata.secret_names),
    workDirectory,
    notices,
  }
}

/** What fits into any environment; used once the system has refused a larger one. */
const SMALL_ROOM = 64 * 1024

/** @throws {SessionError} `ERR_SESSION_PROGRAM`: the shell cannot be started any more. */
export async function runExecution(
  execution: Execution,
  command: string,
  options: ExecOptions,
): Promise<CommandOutcome> {
  const { paths, metadata, driver, state, number, work, caller, secrets, notices } = execution
  mkdirSync(paths.output, { recursive: true, mode: 0o700 })
  const call: DriverCall = {
    program: metadata.program,
    session: paths.directory,
    command,
    work,
    state: state.ownPath(driver.stateFile),
    number,
    variables: variablesFor(state.variables, caller, metadata.secret_names),
    room: Number.POSITIVE_INFINITY,
    secretNames: [...secrets.names],
  }
  let outcome = await launch(execution, driver.prepare(call), options)
  if (outcome.startError?.code === 'TOO_LARGE') {
    outcome = await launch(execution, driver.prepare({ ...call, room: SMALL_ROOM }), options)
    if (largeNotice(call.variables).length === 0) notices.push(totalNotice(call.variables))
  }
  if (outcome.startError) {
    const message = `"${metadata.command}" cannot be started: ${outcome.startError.message}`
    throw new SessionError('ERR_SESSION_PROGRAM', message)
  }
  return outcome
}

function launch(
  { paths, metadata, number, workDirectory }: Execution,
  { argv, env }: Launch,
  { timeoutMs, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, signal }: ExecOptions,
): Promise<CommandOutcome> {
  return runCommand(argv, {
    cwd: workDirectory,
    env: { ...env, [SESSION_VARIABLE]: markOf(metadata.session_id, number) },
    stdoutPath: join(paths.output, `${number}.stdout`),
    stderrPath: join(paths.output, `${number}.stderr`),
    keepBytes: maxOutputBytes,
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(signal && { signal }),
  })
}

/** The directory, or the nearest one above it that still exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path))
}
