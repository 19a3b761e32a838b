import { constants } from 'node:os'
import {
  type ByteFilter,
  type CapturedOutput,
  type CommandOutcome,
  commandEnvironment,
  runCommand,
} from '@delta/executor'
import { AtipExecuteError, ExecutionError, TimeoutError } from './errors.js'

/** How long a command may run, in milliseconds, unless the caller or its metadata sets a limit. */
export const DEFAULT_TIMEOUT = 30_000

const MAX_TIMEOUT = 600_000

/** How much output is kept, in bytes, of stdout and stderr together. */
export const DEFAULT_MAX_OUTPUT_SIZE = 1_048_576

const MAX_OUTPUT_SIZE = 10_485_760

/** How a command is run. */
export interface ExecutionOptions {
  /** Milliseconds; default 30000, at most 600000, which 0 stands for. */
  timeout?: number | undefined
  /** Bytes of stdout and stderr together that are kept; default 1048576, at most 10485760. */
  maxOutputSize?: number | undefined
  /** Default: the current directory. */
  cwd?: string | undefined
  /** Added to the environment of this process, without its API keys for models. */
  env?: Record<string, string> | undefined
  /** Passes the words, joined by spaces, to a shell. Only for command lines you wrote yourself. */
  shell?: string | boolean | undefined
  /** Calls `onStdout` and `onStderr` with every chunk as it comes. */
  streaming?: boolean | undefined
  /** Only with `streaming`. */
  onStdout?: ((data: Buffer) => void) | undefined
  /** Only with `streaming`. */
  onStderr?: ((data: Buffer) => void) | undefined
}

/** What a command did; nothing is redacted. Made by `executeCommand`. */
export interface ExecutionResult {
  /** True when the exit code is 0. */
  success: boolean
  /** 128 + n when signal n ended the command. */
  exitCode: number
  stdout: string
  stderr: string
  /** Milliseconds. */
  duration: number
  /** True when there was more output than is here. */
  truncated: boolean
  /** True only where a batch reports a `TimeoutError` as a result. */
  timedOut: boolean
  /** The words of the command line; empty where a batch reports that nothing was run. */
  command: string[]
  /** `''` unless an `Executor` ran it, like `toolName`. */
  toolCallId: string
  toolName: string
}

/**
 * Runs a command without a shell, in a process group of its own, with an empty stdin.
 * A timeout or an abort ends the whole group: TERM first, KILL two seconds later.
 *
 * @param options.signal - Ends the command. If it is already aborted, the command is not started.
 * @throws {ExecutionError} It could not be started.
 * @throws {TimeoutError} It ran too long; the error holds what it printed until then.
 * @throws {AtipExecuteError} `ABORTED`: `signal` ended it; `cause` is the reason of the signal.
 * @example
 * const { exitCode, stdout } = await executeCommand(['git', 'status'], { timeout: 5000 })
 */
export async function executeCommand(
  command: string[],
  options: ExecutionOptions & { signal?: AbortSignal | undefined } = {},
): Promise<ExecutionResult> {
  const { signal } = options
  // 0 asks for no limit, and the longest timeout is the nearest to that
  const timeout = Math.min(options.timeout ?? DEFAULT_TIMEOUT, MAX_TIMEOUT) || MAX_TIMEOUT
  const maxBytes = Math.min(options.maxOutputSize ?? DEFAULT_MAX_OUTPUT_SIZE, MAX_OUTPUT_SIZE)
  const started = performance.now()
  const outcome = await runCommand(argvOf(command, options), {
    cwd: options.cwd ?? process.cwd(),
    env: environmentOf(options),
    timeoutMs: timeout,
    keepBytes: maxBytes,
    keep: 'head',
    signal,
    ...(options.streaming && { filter: watchers(options) }),
  })
  if (outcome.startError)
    throw new ExecutionError(`${command[0]}: ${outcome.startError.message}`, command, outcome.startError)
  if (outcome.status === 'ABORTED')
    throw new AtipExecuteError(`${command[0]} was stopped.`, 'ABORTED', { cause: signal?.reason })
  const { stdout, stderr, truncated } = shareOutput(outcome, maxBytes)
  if (outcome.status === 'TIMEOUT') throw new TimeoutError(command, timeout, stdout, stderr)
  return {
    success: outcome.exitCode === 0,
    exitCode: outcome.exitCode ?? 128 + (outcome.signal ? constants.signals[outcome.signal] : 0),
    stdout,
    stderr,
    duration: performance.now() - started,
    truncated,
    timedOut: false,
    command,
    toolCallId: '',
    toolName: '',
  }
}

function argvOf(command: string[], { shell }: ExecutionOptions): string[] {
  if (!shell) return command
  return [shell === true ? '/bin/sh' : shell, '-c', command.join(' ')]
}

function environmentOf({ env }: ExecutionOptions): NodeJS.ProcessEnv {
  return commandEnvironment(process.env, { extra: env })
}

/** The executor asks for a filter per stream: first stdout's, then stderr's. These look and change nothing. */
function watchers({ onStdout, onStderr }: ExecutionOptions): () => ByteFilter {
  const listeners = [onStdout, onStderr]
  return () => {
    const listener = listeners.shift()
    return {
      push(chunk) {
        listener?.(chunk)
        return chunk
      },
      end: () => Buffer.alloc(0),
    }
  }
}

/** One budget for both streams: stderr, which says what went wrong, gets up to half of it. */
function shareOutput({ stdout, stderr }: CommandOutcome, maxBytes: number) {
  const stderrBytes = Math.min(stderr.bytes, Math.max(Math.floor(maxBytes / 2), maxBytes - stdout.bytes))
  const stdoutBytes = Math.min(stdout.bytes, maxBytes - stderrBytes)
  return {
    stdout: textOf(stdout, stdoutBytes),
    stderr: textOf(stderr, stderrBytes),
    truncated: stdout.bytes + stderr.bytes > maxBytes,
  }
}

/** The first bytes as text, without the half of a character at the cut. */
function textOf({ head, bytes }: CapturedOutput, length: number): string {
  if (length >= bytes) return head.toString('utf8')
  return new TextDecoder().decode(head.subarray(0, length), { stream: true })
}
