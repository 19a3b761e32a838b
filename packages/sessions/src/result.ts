import { isUtf8 } from 'node:buffer'
import { constants } from 'node:os'
import { removeFile } from '@delta/durable'
import { type CapturedOutput, type CommandOutcome, type Redactor, redactFile } from '@delta/executor/command'

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
