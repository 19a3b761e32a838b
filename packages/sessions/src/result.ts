import { isUtf8 } from 'node:buffer'
import { constants } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import type { CapturedOutput, CommandOutcome } from '@delta/executor/command'

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
export function isAllThere({ head, omittedBytes }: CapturedOutput): boolean {
  return omittedBytes === 0 && isUtf8(head)
}

/** Says of an output that the result has, but not byte for byte, where its bytes are. */
export function notTextNotices({ stdout, stderr }: CommandOutcome): string[] {
  return Object.entries({ stdout, stderr })
    .filter(([, output]) => output.omittedBytes === 0 && !isAllThere(output))
    .map(([name, { bytes, path }]) => `${name} is not UTF-8 text; all ${bytes} bytes are in ${path}`)
}

function exitCode({ status, exitCode, signal }: CommandOutcome): number {
  if (status === 'TIMEOUT') return 124
  return exitCode ?? 128 + (signal ? constants.signals[signal] : 0)
}

/** Everything, or the beginning and the end with a line in between that says where the rest is. */
function textOf({ text, head, tail, omittedBytes, path }: CapturedOutput): string {
  if (omittedBytes === 0) return text
  return `${beginningOf(head)}\n[${omittedBytes} bytes left out; all of it is in ${path}]\n${endOf(tail)}`
}

/** Without the first bytes of a character whose last ones were left out. */
function beginningOf(head: Buffer): string {
  return new StringDecoder('utf8').write(head)
}

/** Without the last bytes of a character whose first ones were left out: at most three, each shown as U+FFFD. */
function endOf(tail: Buffer): string {
  return tail.toString('utf8').replace(/^\ufffd{1,3}/, '')
}
