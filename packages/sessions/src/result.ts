import { isUtf8 } from 'node:buffer'
import { constants } from 'node:os'
import { removeFile } from '@delta/durable'
import { type CapturedOutput, type CommandOutcome, type Redactor, redactFile } from '@delta/executor/command'
import { noticeUnless } from './errors.js'

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
    stdout: textOf(stdout),
    stderr: textOf(stderr),
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

/** Says of an output that the result has, but not byte for byte, where its bytes are. */
export function notTextNotices(
  { stdout, stderr }: CommandOutcome,
  isWhole: (output: CapturedOutput) => boolean,
): string[] {
  return Object.entries({ stdout, stderr })
    .filter(([, output]) => isUncut(output) && !isWhole(output))
    .map(([name, { bytes, path }]) => `${name} is not UTF-8 text; all ${bytes} bytes are in ${path}`)
}

function exitCode({ status, exitCode, signal }: CommandOutcome): number {
  if (status === 'TIMEOUT') return 124
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0)
}

function textOf(output: CapturedOutput): string {
  return bytesOf(output).toString('utf8')
}

/** Everything, or the beginning and the end with a line in between that says where the rest is. */
export function bytesOf(output: CapturedOutput): Buffer {
  if (isUncut(output)) return output.head
  const between = `\n[${output.omittedBytes} bytes left out; all of it is in ${output.path}]\n`
  return Buffer.concat([beginningOf(output.head), Buffer.from(between), endOf(output.tail)])
}

/** Without the first bytes of a character whose last ones were left out: at most three. */
function beginningOf(head: Buffer): Buffer {
  return [0, 1, 2, 3].map((count) => head.subarray(0, head.length - count)).find(isUtf8) ?? head
}

/** Without the last bytes of a character whose first ones were left out: at most three. */
function endOf(tail: Buffer): Buffer {
  return [0, 1, 2, 3].map((count) => tail.subarray(count)).find(isUtf8) ?? tail
}

/**
 * Removes outputs that are whole in the result, and takes secrets out of the others. What something
 * still writes to stays, as it is written.
 *
 * @returns What could not be done, in words.
 */
export function tidyOutputs(
  { stdout, stderr }: CommandOutcome,
  {
    inUse,
    isWhole,
    redactor,
  }: { inUse: boolean; isWhole: (output: CapturedOutput) => boolean; redactor: Redactor },
): string[] {
  if (inUse) return []
  const tidy = ({ path, ...output }: CapturedOutput) => {
    if (path === undefined) return
    if (isWhole(output)) removeFile(path)
    else if (redactor.active) redact(path, redactor)
  }
  return [stdout, stderr].flatMap((output) =>
    noticeUnless(() => tidy(output), 'What this command printed could not be tidied up'),
  )
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
