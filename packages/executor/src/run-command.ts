import { type ChildProcess, spawn } from 'node:child_process'
import { type CapturedOutput, type Keep, nothingCaptured } from './captured.js'
import { type ByteFilter, type Channels, openChannels } from './channels.js'
import { ExecutorError } from './errors.js'
import { endGroup, forgetGroup, rememberGroup } from './process-group.js'
import { explainStartError, type StartError } from './start-error.js'

export interface CommandOptions {
  cwd: string
  /** The whole environment; nothing is added. */
  env: NodeJS.ProcessEnv
  /** Any size. Without it the command reads end of file at once. */
  stdin?: string | Uint8Array
  /** File the whole output goes to (created 0600, or emptied). Without it: a nameless temporary file. */
  stdoutPath?: string
  stderrPath?: string
  /** How much of each stream comes back in memory; default 1 MiB. */
  keepBytes?: number
  /** Which part of a longer stream comes back; default `both` ends. */
  keep?: Keep
  /** 0 or absent: no limit. */
  timeoutMs?: number
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number
  signal?: AbortSignal
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?(process: { pid: number }): void
  /** Makes a filter for each stream: output then passes through this process, see `ByteFilter`. */
  filter?: () => ByteFilter
}

/** How a command ended. `exitCode` is null unless it exited by itself; `signal` is what killed it. */
export interface CommandOutcome {
  status: 'EXITED' | 'SIGNALED' | 'TIMEOUT' | 'ABORTED' | 'NOT_STARTED'
  exitCode: number | null
  signal: NodeJS.Signals | null
  /** Wall time by the monotonic clock. */
  durationMs: number
  stdout: CapturedOutput
  stderr: CapturedOutput
  /** Only with `NOT_STARTED`. */
  startError?: StartError
}

const DEFAULT_GRACE_MS = 2000
/** Node turns a longer timer into one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

type Ending = Omit<CommandOutcome, 'stdout' | 'stderr' | 'durationMs'>

/**
 * Runs one command, without a shell, in a process group of its own.
 *
 * Its output goes straight to files, so memory stays flat at any size, and the promise
 * settles when the process itself ends: a grandchild that keeps its output open holds
 * nobody up. A timeout or an abort ends the whole group, TERM first, KILL after the
 * grace. Whatever happens to the command is an outcome, never an exception.
 *
 * @param argv - Program and arguments, passed on byte for byte.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: `argv` is empty.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  if (!argv[0]) throw new ExecutorError('ERR_EXECUTOR_USAGE', 'runCommand: argv names no program')
  const startedAt = performance.now()
  const durationMs = () => Math.round(performance.now() - startedAt)
  if (options.signal?.aborted)
    return notRun({ status: 'ABORTED', exitCode: null, signal: null }, durationMs())

  let channels: Channels | undefined
  try {
    channels = openChannels(options)
    const child = start(argv, options, channels)
    const ending = await untilEnded(child, options)
    await channels.drain()
    const { stdout, stderr } = channels.capture(options)
    return { ...ending, durationMs: durationMs(), stdout, stderr }
  } catch (error) {
    const startError = explainStartError(error, argv, options)
    return notRun({ status: 'NOT_STARTED', exitCode: null, signal: null, startError }, durationMs())
  } finally {
    channels?.close()
  }
}

function notRun(ending: Ending, durationMs: number): CommandOutcome {
  return { ...ending, durationMs, stdout: nothingCaptured(), stderr: nothingCaptured() }
}

function start(argv: readonly string[], options: CommandOptions, channels: Channels): ChildProcess {
  const [program = '', ...rest] = argv
  const child = spawn(program, rest, {
    cwd: options.cwd,
    env: options.env,
    stdio: channels.stdio,
    detached: true, // a process group of its own, and no controlling terminal
  })
  channels.connect(child)
  if (child.pid !== undefined) {
    rememberGroup(child.pid)
    options.onSpawn?.({ pid: child.pid })
  }
  return child
}

function untilEnded(child: ChildProcess, options: CommandOptions): Promise<Ending> {
  return new Promise((resolve, reject) => {
    let stopping: { status: 'TIMEOUT' | 'ABORTED'; done: Promise<void> } | undefined
    const stop = (status: 'TIMEOUT' | 'ABORTED') => {
      if (stopping || child.pid === undefined) return
      stopping = { status, done: endGroup(child.pid, options.graceMs ?? DEFAULT_GRACE_MS) }
    }
    const onAbort = () => stop('ABORTED')
    const { timeoutMs = 0 } = options
    const limited = timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS
    const timer = limited ? setTimeout(stop, timeoutMs, 'TIMEOUT') : undefined
    options.signal?.addEventListener('abort', onAbort, { once: true })

    child.once('error', reject)
    child.once('exit', async (exitCode, signal) => {
      clearTimeout(timer)
      options.signal?.removeEventListener('abort', onAbort)
      await stopping?.done
      if (child.pid !== undefined) forgetGroup(child.pid)
      resolve({ status: stopping?.status ?? (signal ? 'SIGNALED' : 'EXITED'), exitCode, signal })
    })
  })
}
