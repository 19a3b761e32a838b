import { type ChildProcess, spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { checkFunction, checkSignal, checkTime, isObject, isText, requireThat } from '../usage.js'
import { type CapturedOutput, type Keep, nothingCaptured } from './captured.js'
import { type Channels, openChannels } from './channels.js'
import { isDiskFull } from './disk-room.js'
import { endGroup, forgetGroup, rememberGroup, signalGroup } from './process-group.js'
import type { ByteFilter } from './pump.js'
import { explainStartError, type StartError } from './start-error.js'

export interface CommandOptions {
  cwd: string
  /** The whole environment; nothing is added. */
  env: NodeJS.ProcessEnv
  /** Any size. Without it the command reads end of file at once. */
  stdin?: string | Uint8Array | undefined
  /** File the whole output goes to (created 0600, or emptied). Without it: a nameless temporary file. */
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  /** How much of each stream comes back in memory; default 1 MiB. */
  keepBytes?: number | undefined
  /** Which part of a longer stream comes back; default `both` ends. */
  keep?: Keep | undefined
  /** 0 or absent: no limit. */
  timeoutMs?: number | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  signal?: AbortSignal | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
  /** Makes a filter for each stream: output then passes through this process, see `ByteFilter`. */
  filter?: (() => ByteFilter) | undefined
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
  /** True when the disk of `stdoutPath` was full at the end: output may be lost. */
  diskFull?: boolean
}

const DEFAULT_GRACE_MS = 2000
/** How much later than a command's end a signal that was sent before it may be heard. */
const SIGNAL_DELAY_MS = 50
/** Node turns a longer timer into one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

type Ending = Omit<CommandOutcome, 'stdout' | 'stderr' | 'durationMs' | 'diskFull'>

/**
 * Runs one command, without a shell, in a process group of its own.
 *
 * Its output goes straight to files, so memory stays flat at any size, and the promise
 * settles when the process itself ends: a grandchild that keeps its output open holds
 * nobody up. A timeout or an abort ends the whole group, TERM first, KILL after the
 * grace. Whatever happens to the command is an outcome, never an exception.
 * What it left running in the background is left alone when it ends by itself.
 *
 * @param argv - Program and arguments, passed on byte for byte.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: `argv` is empty, or an option cannot be used. Besides, what `onSpawn` or `filter` throws.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  checkCommand(argv, options)
  const startedAt = process.hrtime.bigint() // node loads all of perf_hooks for performance.now()
  const durationMs = () => Math.round(Number(process.hrtime.bigint() - startedAt) / 1e6)
  if (options.signal?.aborted)
    return notRun({ status: 'ABORTED', exitCode: null, signal: null }, durationMs())

  const started = await start(argv, options)
  if (!started.ok) {
    const { startError } = started
    return notRun({ status: 'NOT_STARTED', exitCode: null, signal: null, startError }, durationMs())
  }
  const { child, pid, channels } = started
  try {
    rememberGroup(pid)
    channels.connect(child, () => signalGroup(pid, 'SIGKILL'))
    options.onSpawn?.({ pid })
    const ending = await untilEnded(child, pid, options)
    await channels.drain()
    const full = options.stdoutPath !== undefined && isDiskFull(options.stdoutPath)
    return {
      ...ending,
      durationMs: durationMs(),
      ...channels.capture(options),
      ...(full && { diskFull: true }),
    }
  } catch (error) {
    signalGroup(pid, 'SIGKILL') // the caller's onSpawn or filter threw: nothing may go on unwatched
    throw error
  } finally {
    forgetGroup(pid)
    channels.close()
  }
}

function checkCommand(argv: unknown, options: unknown): void {
  const isList = Array.isArray(argv) && isText(argv[0])
  requireThat(isList, 'runCommand: the command', "a list that begins with a program, as in ['ls', '-l']")
  const { cwd, env } = Object(options)
  requireThat(isText(cwd), 'runCommand: the option cwd', 'the directory to run in')
  requireThat(isObject(env), 'runCommand: the option env', 'the whole environment, as in process.env')
  const { stdin, timeoutMs, graceMs, keepBytes, keep, signal, onSpawn, filter } = Object(options)
  const isInput = stdin === undefined || typeof stdin === 'string' || ArrayBuffer.isView(stdin)
  requireThat(isInput, 'runCommand: the option stdin', 'a text, a Buffer or a Uint8Array, or nothing')
  checkTime('runCommand: the option timeoutMs', timeoutMs)
  checkTime('runCommand: the option graceMs', graceMs)
  const isSize = keepBytes === undefined || (typeof keepBytes === 'number' && keepBytes >= 0)
  requireThat(isSize, 'runCommand: the option keepBytes', 'a number of bytes, or nothing')
  const isKeep = keep === undefined || ['head', 'tail', 'both'].includes(keep)
  requireThat(isKeep, 'runCommand: the option keep', "'head', 'tail' or 'both', or nothing")
  checkSignal('runCommand: the option signal', signal)
  checkFunction('runCommand: the option onSpawn', onSpawn)
  checkFunction('runCommand: the option filter', filter)
}

function notRun(ending: Ending, durationMs: number): CommandOutcome {
  return { ...ending, durationMs, stdout: nothingCaptured(), stderr: nothingCaptured() }
}

type Started =
  | { ok: true; child: ChildProcess; pid: number; channels: Channels }
  | { ok: false; startError: StartError }

async function start(argv: readonly string[], options: CommandOptions): Promise<Started> {
  const [program = '', ...rest] = argv
  let channels: Channels | undefined
  try {
    channels = openChannels(options)
    const child = spawn(program, rest, {
      cwd: options.cwd,
      env: options.env,
      stdio: channels.stdio,
      detached: true, // a process group of its own, and no controlling terminal
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    return { ok: true, child, pid: child.pid, channels }
  } catch (error) {
    channels?.close()
    return { ok: false, startError: explainStartError(error, argv, options) }
  }
}

function untilEnded(child: ChildProcess, pid: number, options: CommandOptions): Promise<Ending> {
  return new Promise((resolve) => {
    let stopping: { status: 'TIMEOUT' | 'ABORTED'; done: Promise<void> } | undefined
    const stop = (status: 'TIMEOUT' | 'ABORTED') => {
      stopping ??= { status, done: endGroup(pid, options.graceMs ?? DEFAULT_GRACE_MS) }
    }
    const onAbort = () => stop('ABORTED')
    const { timeoutMs = 0, signal: abort } = options
    const limited = timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS
    const timer = limited ? setTimeout(stop, timeoutMs, 'TIMEOUT') : undefined
    if (abort) whenAborted(abort, onAbort)

    child.once('exit', async (exitCode, signal) => {
      clearTimeout(timer)
      if (abort && !stopping && (signal || (exitCode ?? 0) > 128)) await abortedSoon(abort)
      abort?.removeEventListener('abort', onAbort)
      await stopping?.done
      resolve({ status: stopping?.status ?? (signal ? 'SIGNALED' : 'EXITED'), exitCode, signal })
    })
  })
}

/**
 * Whoever stops a whole tree of processes signals this one and the command at once, and of the two the command's end may be
 * heard first: this process has several threads, and the signal may have gone to one that has to be woken.
 */
async function abortedSoon(abort: AbortSignal): Promise<void> {
  const given = wait(SIGNAL_DELAY_MS, undefined, { signal: abort })
  await given.catch(() => undefined) // aborted: that is what it waited for
}

function whenAborted(signal: AbortSignal, onAbort: () => void): void {
  // any number of commands may end with one signal; node takes the eleventh listener for a leak
  if (signal instanceof EventTarget) setMaxListeners(0, signal)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
}
