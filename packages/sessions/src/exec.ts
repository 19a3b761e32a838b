import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CapturedOutput, type CommandOutcome, createRedactor, runCommand } from '@delta/executor'
import type { DriverCall, Launch } from './drivers/driver.js'
import { driverOf } from './drivers/driver-of.js'
import { noticeUnless, SessionError } from './errors.js'
import { livingJobs, makeWorkFile, markOf, removeWorkFiles, SESSION_VARIABLE, settleCrash } from './jobs.js'
import {
  bytesOf,
  collectState,
  type ExecResult,
  type Execution,
  isAllThere,
  isUncut,
  processResult,
  tidyOutput,
} from './result.js'
import { readState, secretsOf, variablesFor, variablesOf } from './state.js'
import {
  existingSession,
  lockSession,
  readMetadata,
  recordCommand,
  type SessionPaths,
  writeMetadata,
} from './store.js'

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
  return (await execForBytes(id, command, options, isAllThere)).result
}

interface Executed {
  result: ExecResult
  /** As it was printed; when it is long its two ends, as in the result. */
  stdout: Buffer
  stderr: Buffer
}

type IsWhole = (output: CapturedOutput) => boolean

/**
 * As `execInSession`, for a caller that passes bytes on.
 *
 * @param isWhole - Whether the caller gets all of an output without its file: bytes that are not UTF-8 need none.
 */
export async function execForBytes(
  id: string,
  command: string,
  options: ExecOptions,
  isWhole: IsWhole = isUncut,
): Promise<Executed> {
  if (command.includes('\0')) {
    const message = 'The command holds a NUL character, which no shell accepts.'
    throw new SessionError('ERR_SESSION_COMMAND', message)
  }
  const paths = existingSession(options.sessionsDirectory, id)
  const unlock = await lockSession(paths.lock, options.signal)
  return runLocked(paths, command, options, isWhole).finally(unlock)
}

async function runLocked(
  paths: SessionPaths,
  command: string,
  options: ExecOptions,
  isWhole: IsWhole,
): Promise<Executed> {
  const time = new Date().toISOString()
  const execution = await prepareExecution(paths, command, options)
  const { metadata, call, secrets, notices } = execution
  const outcome = await runExecution(execution, options)
  const { stdout, stderr } = outcome
  const { jobs, leftRunning, kept } = await collectState(execution, outcome)
  const result: ExecResult = { ...processResult(outcome), ...kept }
  const { exit_code, execution_time_ms, work_dir } = result
  const redactor = createRedactor(secrets.values)
  const known = { last_executed_at: time, execution_count: call.number, work_dir, background_jobs: jobs }
  const entry = { time, command: redactor.text(command), exit_code, execution_time_ms, work_dir }
  const outputs = leftRunning ? [] : [stdout, stderr] // what something still writes to stays, as it is written
  notices.push(
    ...noticeUnless(() => removeWorkFiles(paths), 'Files this command worked with are still there'),
    ...outputs.flatMap((output) => {
      const tidy = () => tidyOutput(output, isWhole(output), redactor)
      return noticeUnless(tidy, 'What this command printed could not be tidied up')
    }),
    ...noticeUnless(
      () => writeMetadata(paths, { ...metadata, ...known }),
      'This command is not in metadata.json',
    ),
    ...noticeUnless(() => recordCommand(paths, entry), 'This command is not in history.log'),
  )
  if (notices.length > 0) result.notices = notices
  return { result, stdout: bytesOf(stdout), stderr: bytesOf(stderr) }
}

/** Reads the session, clears up after a crash, and makes a work file. Called with the session locked. */
async function prepareExecution(
  paths: SessionPaths,
  command: string,
  { environment }: ExecOptions,
): Promise<Execution> {
  const metadata = readMetadata(paths)
  const number = metadata.execution_count + 1
  await settleCrash(paths, markOf(metadata.session_id, number))
  metadata.background_jobs = livingJobs(metadata.background_jobs)
  mkdirSync(paths.output, { recursive: true, mode: 0o700 })
  const driver = driverOf(metadata.command)
  const state = readState(paths, driver.stateFile)
  const caller = variablesOf(environment)
  const secrets = secretsOf(caller, metadata.secret_names)
  const call: DriverCall = {
    program: metadata.program,
    command,
    work: makeWorkFile(paths),
    state: state.ownPath,
    number,
    variables: variablesFor(state.variables, caller, metadata.secret_names),
    room: Number.POSITIVE_INFINITY,
    secretNames: [...secrets.names],
  }
  return { paths, metadata, driver, state, call, caller, secrets, notices: [] }
}

/** What fits into any environment; used once the system has refused a larger one. */
const SMALL_ROOM = 64 * 1024

/** @throws {SessionError} `ERR_SESSION_PROGRAM`: the shell cannot be started any more. */
async function runExecution(execution: Execution, options: ExecOptions): Promise<CommandOutcome> {
  const { metadata, driver, state, call, notices } = execution
  const cwd = nearestDirectory(state.workDirectory)
  // A name that is no text was garbled when it was read; the shell knows it.
  if (cwd !== state.workDirectory && !state.workDirectory.includes('\ufffd'))
    notices.push(`${state.workDirectory} no longer exists; the command ran in ${cwd}.`)
  let outcome = await launch(execution, driver.prepare(call), { ...options, cwd })
  if (outcome.startError?.code === 'TOO_LARGE')
    outcome = await launch(execution, driver.prepare({ ...call, room: SMALL_ROOM }), { ...options, cwd })
  if (outcome.startError === undefined) return outcome
  const message = `"${metadata.command}" cannot be started: ${outcome.startError.message}`
  throw new SessionError('ERR_SESSION_PROGRAM', message)
}

function launch(
  { paths, metadata, call: { number } }: Execution,
  { argv, env }: Launch,
  { cwd, timeoutMs, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, signal }: ExecOptions & { cwd: string },
): Promise<CommandOutcome> {
  return runCommand(argv, {
    cwd,
    env: { ...env, [SESSION_VARIABLE]: markOf(metadata.session_id, number) },
    stdoutPath: join(paths.output, `${number}.stdout`),
    stderrPath: join(paths.output, `${number}.stderr`),
    keepBytes: maxOutputBytes,
    timeoutMs,
    signal,
  })
}

/** The directory, or the nearest one above it that still exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path))
}
