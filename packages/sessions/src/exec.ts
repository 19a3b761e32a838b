import { isUtf8 } from 'node:buffer'
import { existsSync, mkdirSync } from 'node:fs'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { removeFile } from '@delta/durable/internal'
import {
  type CapturedOutput,
  type CommandOutcome,
  createRedactor,
  type Redactor,
  runCommand,
} from '@delta/executor'
import { redactFile } from '@delta/executor/internal'
import type { DriverCall } from './drivers/driver.js'
import { driverOf } from './drivers/driver-of.js'
import { noticeUnless, SessionError } from './errors.js'
import { livingJobs, makeWorkFile, markOf, removeWorkFiles, SESSION_VARIABLE, settleCrash } from './jobs.js'
import { type Execution, keepState } from './keep-state.js'
import { commitState, readState, type StoredState, secretsOf, variablesFor, variablesOf } from './state.js'
import {
  existingSession,
  lockSession,
  placeOf,
  readMetadata,
  recordCommand,
  type SessionMetadata,
  type SessionPaths,
  writeMetadata,
} from './store.js'

/** Where a session is, and what ends a command in it. */
export interface ExecOptions {
  /** Where sessions live. */
  sessionsDirectory: string
  /** Environment of the caller: gives the command what the session never stores (credentials, the run's variables). */
  env: NodeJS.ProcessEnv
  /** In milliseconds, from the start of the command. Default: no limit. A command that runs longer leaves the state as it was. */
  timeoutMs?: number | undefined
  /** How many bytes of stdout, and of stderr, the result holds; the rest is in a file. Default 16384. */
  maxOutputBytes?: number | undefined
  /** Ends the command, which is a result; before the command starts, `ERR_SESSION_ABORTED`. */
  signal?: AbortSignal | undefined
}

/** What one command did. */
export interface ExecResult {
  /** A long output is cut to its two ends; see `stdoutFile`. The same holds for `stderr`. */
  stdout: string
  stderr: string
  /** 124 after a timeout, 128 + n after signal n. */
  exitCode: number
  /** Time that the command itself took, without the wait for other commands of the session. */
  executionTimeMs: number
  /** Where the session is now. */
  workDir: string
  /** Only after a timeout. */
  timedOut?: true
  /** Only when a signal ended the command. */
  signal?: NodeJS.Signals
  /** The whole output, when `stdout` or `stderr` holds only its two ends, or the output is not UTF-8. */
  stdoutFile?: string
  stderrFile?: string
  /** What still runs, until `endSession`. */
  backgroundJobs?: { pid: number; command: string }[]
  /** What the session could not remember, and why. */
  notKept?: { name: string; reason: string }[]
  /** Anything else the caller should know. */
  notices?: string[]
}

/**
 * Runs one command where the last one left off, and remembers where it ends.
 *
 * Commands of one session wait for each other. Whatever the command does is a result: an exit code,
 * a syntax error, a timeout. Its state counts once it has ended by itself; a command that was killed,
 * or that replaced its shell, leaves the state as it was and a notice.
 *
 * @example
 * const { stdout, exitCode } = await execInSession(sessionId, 'cd src && ls', { sessionsDirectory, env: process.env })
 * @throws {SessionError} `ERR_SESSION_ID`, `ERR_SESSION_UNKNOWN`, `ERR_SESSION_DAMAGED`;
 *   `ERR_SESSION_COMMAND`: the command holds a NUL character; `ERR_SESSION_PROGRAM`: the shell is gone;
 *   `ERR_SESSION_ABORTED`: `signal` came before the command started.
 */
export async function execInSession(id: string, command: string, options: ExecOptions): Promise<ExecResult> {
  return (await execForBytes(id, command, options)).result
}

interface Executed {
  result: ExecResult
  /** The bytes of the output; when it is long its two ends, as in the result. */
  stdout: Buffer
  stderr: Buffer
}

/** As `execInSession`, for a caller that passes bytes on. */
export async function execForBytes(id: string, command: string, options: ExecOptions): Promise<Executed> {
  if (command.includes('\0')) {
    const message = 'The command holds a NUL character, which no shell accepts.'
    throw new SessionError('ERR_SESSION_COMMAND', message)
  }
  const paths = existingSession(options.sessionsDirectory, id)
  const unlock = await lockSession(paths.lock, options.signal)
  return runLocked(paths, command, options).finally(unlock)
}

async function runLocked(paths: SessionPaths, command: string, options: ExecOptions): Promise<Executed> {
  const time = new Date().toISOString()
  const execution = await prepareExecution(paths, command, options)
  const { metadata, call, secrets, notices } = execution
  const outcome = await runExecution(execution, options)
  const { stdout, stderr } = outcome
  const { workDir, jobs, leftRunning, notKept } = await keepState(execution, outcome)
  const redactor = createRedactor(secrets.values)
  const result: ExecResult = {
    ...processResult(outcome),
    workDir,
    ...(jobs.length > 0 && { backgroundJobs: jobs.map(({ pid, command }) => ({ pid, command })) }),
    ...(notKept.length > 0 && { notKept }),
  }
  const newMetadata: SessionMetadata = {
    ...metadata,
    last_executed_at: time,
    execution_count: call.number,
    work_dir: workDir,
    background_jobs: jobs.map((job) => ({ ...job, command: redactor.text(job.command) })),
  }
  const entry = {
    time,
    command: redactor.text(command),
    exit_code: result.exitCode,
    execution_time_ms: result.executionTimeMs,
    work_dir: workDir,
  }
  const outputs = leftRunning ? [] : [stdout, stderr] // a background job may still write to these files
  notices.push(
    ...noticeUnless(() => removeWorkFiles(paths), 'Files this command worked with are still there'),
    ...outputs.flatMap((output) =>
      noticeUnless(() => tidyOutput(output, redactor), 'What this command printed could not be tidied up'),
    ),
    ...noticeUnless(() => writeMetadata(paths, newMetadata), 'This command is not in metadata.json'),
    ...noticeUnless(() => recordCommand(paths, entry), 'This command is not in history.log'),
  )
  if (notices.length > 0) result.notices = notices
  return { result, stdout: bytesOf(stdout), stderr: bytesOf(stderr) }
}

/** Reads the session, clears up after a crash, and makes a work file. Called with the session locked. */
async function prepareExecution(
  paths: SessionPaths,
  command: string,
  { env }: ExecOptions,
): Promise<Execution> {
  const metadata = readMetadata(paths)
  const number = metadata.execution_count + 1
  await settleCrash(paths, markOf(paths, number))
  metadata.background_jobs = livingJobs(metadata.background_jobs)
  mkdirSync(paths.output, { recursive: true, mode: 0o700 })
  const driver = driverOf(metadata.command)
  const notices: string[] = []
  const state = stateHere(paths, metadata, notices)
  const caller = variablesOf(env)
  const secrets = secretsOf(caller, metadata.secret_names)
  const call: DriverCall = {
    program: metadata.program,
    command,
    work: makeWorkFile(paths),
    state: state.ownPath,
    number,
    variables: variablesFor(state.variables, caller, metadata.secret_names),
    secretNames: [...secrets.names],
  }
  return { paths, metadata, driver, state, call, caller, secrets, notices }
}

/**
 * The state of a session, with its directory in the workspace where the session lies now. In a fork of a run, the old path is that of the
 * original, which must not be written to.
 */
function stateHere(paths: SessionPaths, metadata: SessionMetadata, notices: string[]): StoredState {
  const { stateFile } = driverOf(metadata.command)
  const state = readState(paths, stateFile)
  const here = placeOf(paths)
  const before = metadata.place?.path ?? here.path
  metadata.place = here
  if (before === here.path) return state
  const [from, to] = [workspaceOf(before), workspaceOf(here.path)]
  const moved = (path: string) => (`${path}/`.startsWith(`${from}/`) ? to + path.slice(from.length) : path)
  const variables = new Map(state.variables)
  for (const name of ['PWD', 'OLDPWD']) {
    const value = variables.get(name)
    if (value !== undefined) variables.set(name, Buffer.from(moved(value.toString('latin1')), 'latin1'))
  }
  const workDirectory = moved(state.workDirectory)
  commitState(paths, { ...state, variables, workDirectory }, state.number + 1)
  notices.push(`The session was moved from ${from} to ${to}. Its variables may still name the old place.`)
  return readState(paths, stateFile)
}

/** `<workspace>/.sessions/<id>` */
function workspaceOf(session: string): string {
  return dirname(dirname(session))
}

const DEFAULT_MAX_OUTPUT_BYTES = 16_384

/** @throws {SessionError} `ERR_SESSION_PROGRAM`: the shell cannot be started any more. */
async function runExecution(
  { paths, metadata, driver, state, call, notices }: Execution,
  { timeoutMs, maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, signal }: ExecOptions,
): Promise<CommandOutcome> {
  const cwd = nearestDirectory(state.workDirectory)
  // A name that is not UTF-8 was garbled when it was read; the shell knows it.
  if (cwd !== state.workDirectory && !state.workDirectory.includes('\ufffd'))
    notices.push(`${state.workDirectory} no longer exists; the command ran in ${cwd}.`)
  const { argv, env } = driver.prepare(call)
  const outcome = await runCommand(argv, {
    cwd,
    env: { ...env, [SESSION_VARIABLE]: markOf(paths, call.number) },
    stdoutPath: join(paths.output, `${call.number}.stdout`),
    stderrPath: join(paths.output, `${call.number}.stderr`),
    keepBytes: maxOutputBytes,
    timeoutMs,
    signal,
  })
  if (outcome.startError === undefined) return outcome
  const message = `"${metadata.command}" cannot be started: ${outcome.startError.message}`
  throw new SessionError('ERR_SESSION_PROGRAM', message)
}

/** The directory, or the nearest one above it that still exists. */
function nearestDirectory(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestDirectory(dirname(path))
}

/** The part of a result that comes from the process. */
function processResult(outcome: CommandOutcome): Omit<ExecResult, 'workDir'> {
  const { status, signal, stdout, stderr } = outcome
  const ended = outcome.exitCode ?? 128 + (signal ? constants.signals[signal] : 0)
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exitCode: status === 'TIMEOUT' ? 124 : ended,
    executionTimeMs: outcome.durationMs,
    ...(status === 'TIMEOUT' && { timedOut: true as const }),
    ...(signal !== null && { signal }),
    ...(!isComplete(stdout) && stdout.path !== undefined && { stdoutFile: stdout.path }),
    ...(!isComplete(stderr) && stderr.path !== undefined && { stderrFile: stderr.path }),
  }
}

/** Whether the result says byte for byte what the command printed. */
function isComplete({ omittedBytes, head }: CapturedOutput): boolean {
  return omittedBytes === 0 && isUtf8(head)
}

/** Everything, or both ends and between them a line that says where the rest is. */
function bytesOf({ omittedBytes, path, head, tail }: CapturedOutput): Buffer {
  if (omittedBytes === 0) return head
  const between = `\n[${omittedBytes} bytes left out; all of it is in ${path}]\n`
  return Buffer.concat([head, Buffer.from(between), tail])
}

/** Removes the file of an output that is complete in the result, and takes the secrets out of any other. */
function tidyOutput(output: CapturedOutput, redactor: Redactor): void {
  const { path } = output
  if (path === undefined) return
  try {
    if (isComplete(output)) removeFile(path)
    else if (redactor.active) redactFile(path, redactor)
  } catch (error) {
    removeFile(path) // a full disk has no room for a copy without the secrets
    throw error
  }
}
