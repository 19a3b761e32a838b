import { isUtf8 } from 'node:buffer'
import { constants } from 'node:os'
import { removeFile, replaceFile } from '@delta/durable'
import { type CapturedOutput, type CommandOutcome, type Redactor, runCommand } from '@delta/executor'
import { redactFile } from '@delta/executor/internal'
import type { Driver, DriverCall, Report } from './drivers/driver.js'
import { systemCode } from './errors.js'
import { parseJobs } from './jobs.js'
import {
  commitState,
  isName,
  isSameState,
  largeNotice,
  rememberedVariables,
  type Secrets,
  type SessionState,
  type StoredState,
  type Variables,
} from './state.js'
import type { BackgroundJob, SessionMetadata, SessionPaths } from './store.js'

/** What one command did. snake_case: this is what `delta-sessions exec` prints. */
export interface ExecResult {
  /** As text; when it is long its two ends, see `stdout_file`. So is `stderr`. */
  stdout: string
  stderr: string
  /** 124 after a timeout, 128 + n after signal n. */
  exit_code: number
  /** Of the command alone, without waiting for others of the session. */
  execution_time_ms: number
  /** Where the session is now. */
  work_dir: string
  /** Only after a timeout. */
  timed_out?: true
  /** Only when a signal ended the command. */
  signal?: NodeJS.Signals
  /** The whole output, when `stdout` or `stderr` holds only its two ends, or what it holds was no UTF-8. */
  stdout_file?: string
  stderr_file?: string
  /** What still runs, until `end`. */
  background_jobs?: { pid: number; command: string }[]
  /** What the session could not remember, and why. */
  not_kept?: { name: string; reason: string }[]
  /** Anything else the caller should know. */
  notices?: string[]
}

/** The part of a result that comes from the process. */
export function processResult(outcome: CommandOutcome): Omit<ExecResult, 'work_dir'> {
  const { stdout, stderr } = outcome
  return {
    stdout: stdout.text,
    stderr: stderr.text,
    exit_code: exitCode(outcome),
    execution_time_ms: outcome.durationMs,
    ...(outcome.status === 'TIMEOUT' && { timed_out: true as const }),
    ...(outcome.signal !== null && { signal: outcome.signal }),
    ...(!isAllThere(stdout) && stdout.path !== undefined && { stdout_file: stdout.path }),
    ...(!isAllThere(stderr) && stderr.path !== undefined && { stderr_file: stderr.path }),
  }
}

/** Whether the result says byte for byte what was printed. */
export function isAllThere(output: CapturedOutput): boolean {
  return isUncut(output) && isUtf8(output.head)
}

/** Whether the bytes of an output are all in memory. */
export function isUncut({ omittedBytes }: CapturedOutput): boolean {
  return omittedBytes === 0
}

function exitCode({ status, exitCode, signal }: CommandOutcome): number {
  if (status === 'TIMEOUT') return 124
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0)
}

/** Everything, or the beginning and the end with a line in between that says where the rest is. */
export function bytesOf(output: CapturedOutput): Buffer {
  if (isUncut(output)) return output.head
  const between = `\n[${output.omittedBytes} bytes left out; all of it is in ${output.path}]\n`
  return Buffer.concat([output.head, Buffer.from(between), output.tail])
}

/** Removes an output that is whole in the result, and takes the secrets out of any other. */
export function tidyOutput({ path }: CapturedOutput, isWhole: boolean, redactor: Redactor): void {
  if (path === undefined) return
  if (isWhole) removeFile(path)
  else if (redactor.active) redact(path, redactor)
}

/** On a full disk there is no room for a copy without the secrets; then nothing is kept. */
function redact(path: string, redactor: Redactor): void {
  try {
    redactFile(path, redactor)
  } catch (error) {
    removeFile(path)
    throw error
  }
}

/** One command in one session, with everything that is known before it runs. */
export interface Execution {
  paths: SessionPaths
  metadata: SessionMetadata
  driver: Driver
  state: StoredState
  call: DriverCall
  caller: Variables
  secrets: Secrets
  notices: string[]
}

interface Collected {
  /** Everything the session has running now, of this command and of earlier ones. */
  jobs: BackgroundJob[]
  /** True when this command left something running, which may still write. */
  leftRunning: boolean
  kept: Pick<ExecResult, 'work_dir' | 'background_jobs' | 'not_kept'>
}

/** Takes over what a command left in the work directory, or says in a notice why the state stays as it was. */
export async function collectState(execution: Execution, outcome: CommandOutcome): Promise<Collected> {
  const { metadata, driver, call, secrets, state, notices } = execution
  let report: Report | undefined
  let next: SessionState | undefined
  try {
    report = outcome.status === 'EXITED' ? driver.collect(call.work, secrets) : undefined
    if (report) next = await storeNext(execution, report)
    else notices.push(asBefore(whyUnfinished(outcome)))
  } catch (error) {
    if (!(error instanceof SyntaxError) && systemCode(error) === undefined) throw error
    notices.push(asBefore(`what it left could not be kept (${(error as Error).message})`))
  }
  notices.push(...largeNotice((next ?? state).variables))

  const ownJobs = parseJobs(report?.jobs ?? '')
  const jobs = [...metadata.background_jobs, ...ownJobs]
  const lost = report?.lost ?? []
  return {
    jobs,
    leftRunning: ownJobs.length > 0,
    kept: {
      work_dir: next?.workDirectory ?? state.workDirectory,
      ...(jobs.length > 0 && { background_jobs: jobs.map(({ pid, command }) => ({ pid, command })) }),
      ...(lost.length > 0 && { not_kept: lost }),
    },
  }
}

function asBefore(why: string): string {
  return `The session is as it was before this command: ${why}.`
}

function whyUnfinished({ status, signal }: CommandOutcome): string {
  if (status === 'TIMEOUT') return 'it ran into the time limit'
  if (status === 'ABORTED') return 'it was stopped'
  return signal
    ? `it was killed by ${signal}`
    : 'its process ended without saving (as after exec or os._exit, with a trap on EXIT in sh, or on a full disk)'
}

/** The next state, once it is on the disk. */
async function storeNext(execution: Execution, report: Report): Promise<SessionState> {
  const { paths, state, caller, secrets, notices } = execution
  const { variables, withheld } = rememberedVariables(report.variables, caller, secrets)
  const hidden = [...report.withheld, ...withheld]
  if (hidden.length > 0) notices.push(`Not stored, because they hold a secret: ${hidden.sort().join(', ')}.`)
  const own = await nextOwnState(execution, report)
  const next: SessionState = {
    variables: new Map([...unnameable(state), ...variables]),
    workDirectory: report.workDirectory,
    ...(own && { own }),
  }
  if (!isSameState(state, next)) commitState(paths, next, state.number + 1)
  return next
}

/** Names a shell cannot speak of, and so cannot have changed; it does not report them either. */
function unnameable({ variables }: SessionState): [string, Buffer][] {
  return [...variables].filter(([name]) => !isName(name) && !name.startsWith('BASH_FUNC_'))
}

/** The driver's new part of the state, if nothing speaks against it; otherwise the one there is. */
async function nextOwnState(execution: Execution, { own: bytes }: Report): Promise<SessionState['own']> {
  const { metadata, driver, state, secrets, notices } = execution
  if (bytes === undefined || state.own?.bytes.equals(bytes)) return state.own
  if (secrets.isIn(bytes)) {
    notices.push('Variables and functions were not stored, because one of them holds a secret.')
    return state.own
  }
  const problem = await check(execution, bytes)
  if (problem === undefined) return { name: driver.stateFile, bytes }
  notices.push(
    `Variables and functions were not stored; ${metadata.command} could not read them back: ${problem}`,
  )
  return state.own
}

async function check({ paths, driver, call }: Execution, bytes: Buffer): Promise<string | undefined> {
  const path = `${call.work}.check`
  const argv = driver.check?.(call.program, path)
  if (!argv) return undefined
  replaceFile(path, bytes, { sync: false })
  const outcome = await runCommand(argv, { cwd: paths.directory, env: {}, timeoutMs: 10_000 })
  return outcome.exitCode === 0 ? undefined : outcome.stderr.text.trim() || outcome.status
}
