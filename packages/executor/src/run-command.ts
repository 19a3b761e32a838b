import { type ChildProcess, spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { endGroup, signalGroup } from '@delta/durable'
import {
  type ByteFilter,
  type CapturedOutput,
  type Channels,
  type Keep,
  nothingCaptured,
  openChannels,
} from './channels.js'
import { ExecutorError } from './errors.js'

/** What a command gets, where its output goes, and what ends it. */
export interface CommandOptions {
  /** The directory it starts in; it must exist. */
  cwd: string
  /** The whole environment; nothing is added but, with `filter` and `stdin`, a `SHLVL` of 1 where there is none. */
  env: NodeJS.ProcessEnv
  /** Any size. Without it the command reads end of file at once. */
  stdin?: string | Uint8Array | undefined
  /** File the whole output goes to (created 0600, or emptied). Without it: a nameless temporary file. */
  stdoutPath?: string | undefined
  /** The same for stderr. */
  stderrPath?: string | undefined
  /** How much of each stream comes back in memory; default 1 MiB. */
  keepBytes?: number | undefined
  /** Which part of a longer stream comes back; default `both` ends. */
  keep?: Keep | undefined
  /** 0 or absent: no limit. */
  timeoutMs?: number | undefined
  /** How much both streams together may write, looked at four times a second. 0 or absent: no limit. */
  maxOutputBytes?: number | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  /** Ends the command, TERM first; already aborted, it is not started. */
  signal?: AbortSignal | undefined
  /** Called as soon as the process exists, before it can have ended. */
  onSpawn?: ((process: { pid: number }) => void) | undefined
  /** Makes a filter for each stream: output then passes through this process, see `ByteFilter`. */
  filter?: (() => ByteFilter) | undefined
}

/** How a command ended, and what it printed. */
export type CommandOutcome = Ending & {
  /** Wall time by the monotonic clock. */
  durationMs: number
  stdout: CapturedOutput
  stderr: CapturedOutput
  /** True when the disk of `stdoutPath` was full at the end: output may be lost. */
  diskFull?: boolean
}

const running = new Set<number>()

/**
 * Kills (KILL, at once, synchronously) every process group that `runCommand` has running in
 * this process: for a program that must leave within the same tick, on a second Ctrl+C say.
 */
export function killRunningCommands(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}

/**
 * Runs one command, without a shell, in a process group of its own.
 *
 * Its output goes straight to files, so memory stays flat at any size, and the promise
 * settles when the process itself ends: a grandchild that keeps its output open holds
 * nobody up. A timeout, too much output or an abort ends the whole group, TERM first, KILL
 * after the grace. Whatever happens to the command is an outcome, never an exception.
 * What it left running in the background is left alone when it ends by itself.
 *
 * @param argv - Program and arguments, passed on byte for byte.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: `argv` is empty. Besides, what `onSpawn` or `filter` throws.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandOutcome> {
  if (!argv[0]) {
    const wanted = "Pass a list that begins with a program, as in ['ls', '-l']."
    throw new ExecutorError('ERR_EXECUTOR_USAGE', `The command is empty.\n${wanted}`)
  }
  if (options.signal?.aborted) return nothingRun({ status: 'ABORTED', exitCode: null, signal: null })
  const startedAt = performance.now()
  const started = await start(argv, options)
  if ('code' in started) {
    return nothingRun({ status: 'NOT_STARTED', exitCode: null, signal: null, startError: started })
  }
  const { child, pid, channels } = started
  try {
    running.add(pid)
    channels.connect(child, () => signalGroup(pid, 'SIGKILL'))
    options.onSpawn?.({ pid })
    const ending = await untilEnded(started, options)
    await channels.drain()
    const full = options.stdoutPath !== undefined && isDiskFull(options.stdoutPath)
    return {
      durationMs: Math.round(performance.now() - startedAt),
      ...ending,
      ...channels.capture(options),
      ...(full && { diskFull: true }),
    }
  } catch (error) {
    signalGroup(pid, 'SIGKILL') // the caller's onSpawn or filter threw: nothing may go on unwatched
    throw error
  } finally {
    running.delete(pid)
    channels.close()
  }
}

function nothingRun(ending: Ending): CommandOutcome {
  return { durationMs: 0, stdout: nothingCaptured(), stderr: nothingCaptured(), ...ending }
}

interface Started {
  child: ChildProcess
  pid: number
  channels: Channels
}

async function start(argv: readonly string[], options: CommandOptions): Promise<Started | StartError> {
  const [program = '', ...rest] = argv
  let channels: Channels | undefined
  try {
    channels = openChannels(options)
    const child = spawn(program, rest, {
      cwd: options.cwd,
      env: options.filter && options.stdin !== undefined ? belowShell(options.env) : options.env,
      stdio: channels.stdio,
      detached: true, // a process group of its own, and no controlling terminal
    })
    if (child.pid === undefined) throw (await once(child, 'error'))[0]
    return { child, pid: child.pid, channels }
  } catch (error) {
    channels?.close()
    return explainStartError(error, argv, options.cwd)
  }
}

/** `bash -c` takes a socket, as a pipe of Node's is one, for a login from afar and runs `~/.bashrc`, unless it is below a shell. */
function belowShell(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Number(env.SHLVL) > 0 ? env : { ...env, SHLVL: '1' }
}

/** Why a command did not start. */
export type StartErrorCode =
  | 'NOT_FOUND'
  | 'NOT_EXECUTABLE'
  | 'TOO_LARGE'
  | 'NUL_BYTE'
  | 'NO_CWD'
  | 'NO_OUTPUT_FILE'
  | 'FAILED'

/** The command did not start, and nothing was run. */
export interface StartError {
  code: StartErrorCode
  /** One or two sentences: what is wrong, and what to do. */
  message: string
}

export const BY_STDIN =
  'Large values belong on standard input: let the tool take this parameter with stdin:, or all with stdin: json.'

/** Turns what `spawn` or `open` threw into a cause a person can act on. */
function explainStartError(error: unknown, argv: readonly string[], cwd: string): StartError {
  const { code, syscall, path = 'A temporary file', message } = error as NodeJS.ErrnoException
  const [program = ''] = argv
  const because = (kind: StartErrorCode, what: string, advice: string) => ({
    code: kind,
    message: `${what} ${advice}`,
  })
  if (syscall === 'open' || syscall === 'write' || syscall === 'unlink') {
    const advice = 'Make its directory writable; that of temporary files is named by TMPDIR.'
    return because('NO_OUTPUT_FILE', `${path} cannot be written (${code}).`, advice)
  }
  if (code === 'ERR_INVALID_ARG_VALUE') {
    const what = 'An argument or environment variable of the command holds a NUL byte,'
    return because('NUL_BYTE', what, 'which no command can be given there. Pass it through stdin.')
  }
  if (code === 'E2BIG') {
    const sizes = argv.map((word) => Buffer.byteLength(word))
    const total = sizes.reduce((sum, bytes) => sum + bytes, 0)
    const what = `The arguments are ${total} bytes together, the longest ${Math.max(...sizes)}: more than the system passes to a command.`
    return because('TOO_LARGE', what, BY_STDIN)
  }
  const unusable = whyUnusable(cwd)
  if (unusable !== undefined) {
    const what = `The working directory ${cwd} cannot be entered (${unusable}).`
    return because('NO_CWD', what, 'Create it, or give another cwd.')
  }
  if (!program.includes('/') && (code === 'ENOENT' || code === 'EACCES')) {
    const advice = 'Install it, write its path, or write shell: if the shell does it itself, as with cd.'
    return because('NOT_FOUND', `"${program}" is not on the PATH.`, advice)
  }
  if (code === 'ENOENT' && existsSync(resolve(cwd, program))) {
    const what = `"${program}" exists, but the interpreter its first line names does not.`
    return because('NOT_FOUND', what, 'Check the #! line; it must end with LF, not CR LF.')
  }
  if (code === 'ENOENT') {
    const advice = 'Check the path; a relative one starts at the working directory.'
    return because('NOT_FOUND', `"${program}" does not exist.`, advice)
  }
  if (code === 'EACCES') {
    const advice = 'Check its path, and its permissions (chmod +x).'
    return because('NOT_EXECUTABLE', `"${program}" is not an executable file.`, advice)
  }
  return because('FAILED', `"${program}" could not be started (${code ?? 'no code'}):`, message)
}

function whyUnusable(directory: string): string | undefined {
  try {
    accessSync(join(directory, '/'), constants.X_OK) // with the slash a file is none
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

type StopReason = 'TIMEOUT' | 'ABORTED' | 'TOO_MUCH_OUTPUT'

/** How a command ended, or that it never began; by its `status`. */
type Ending =
  | { status: 'EXITED'; exitCode: number; signal: null; startError?: undefined }
  | { status: 'SIGNALED'; exitCode: null; signal: NodeJS.Signals; startError?: undefined }
  // It was ended, and did so with an exit code or by a signal; with neither if it was aborted before it began.
  | { status: StopReason; exitCode: number | null; signal: NodeJS.Signals | null; startError?: undefined }
  | { status: 'NOT_STARTED'; exitCode: null; signal: null; startError: StartError }

const DEFAULT_GRACE_MS = 2000
/** Whoever prints too much may go on printing until it is killed. */
const PRINTER_GRACE_MS = 250
/** How much later than a command's end a signal that was sent before it may be heard. */
const SIGNAL_DELAY_MS = 50
const MEASURED_EVERY_MS = 250
/** Node turns a longer timer into one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/** Waits for the end of a command, and brings it about when a limit is reached or the caller aborts. */
function untilEnded({ child, pid, channels }: Started, options: CommandOptions): Promise<Ending> {
  return new Promise((resolve) => {
    let stopping: { status: StopReason; done: Promise<void> } | undefined
    const { graceMs = DEFAULT_GRACE_MS } = options
    const stop = (status: StopReason) => {
      const withinMs = status === 'TOO_MUCH_OUTPUT' ? Math.min(graceMs, PRINTER_GRACE_MS) : graceMs
      stopping ??= { status, done: endGroup(pid, withinMs) }
    }
    const onAbort = () => stop('ABORTED')
    const { signal: abort } = options
    const forgetLimits = watchLimits(channels, options, stop)
    // any number of commands may end with one signal; node takes the eleventh listener for a leak
    if (abort instanceof EventTarget) setMaxListeners(0, abort)
    abort?.addEventListener('abort', onAbort, { once: true })
    if (abort?.aborted) onAbort()

    child.once('exit', async (exitCode, signal) => {
      forgetLimits()
      if (abort && !stopping && (signal || (exitCode ?? 0) > 128)) await abortedSoon(abort)
      abort?.removeEventListener('abort', onAbort)
      await stopping?.done
      if (stopping) resolve({ status: stopping.status, exitCode, signal })
      else if (signal) resolve({ status: 'SIGNALED', exitCode: null, signal })
      else resolve({ status: 'EXITED', exitCode: exitCode as number, signal: null }) // node gives one of the two
    })
  })
}

/** Output is measured now and then: the command writes it by itself, and no limit of the system's covers just these two files. */
function watchLimits(
  channels: Channels,
  { timeoutMs = 0, maxOutputBytes = 0 }: CommandOptions,
  stop: (status: StopReason) => void,
): () => void {
  const hasTime = timeoutMs > 0 && timeoutMs <= LONGEST_TIMER_MS
  const timer = hasTime ? setTimeout(stop, timeoutMs, 'TIMEOUT') : undefined
  const measure = () => channels.writtenBytes() > maxOutputBytes && stop('TOO_MUCH_OUTPUT')
  const measuring = maxOutputBytes > 0 ? setInterval(measure, MEASURED_EVERY_MS) : undefined
  return () => {
    clearTimeout(timer)
    clearInterval(measuring)
  }
}

/**
 * Whoever stops a whole tree of processes signals this one and the command at once, and of the two the command's end may be
 * heard first: this process has several threads, and the signal may have gone to one that has to be woken.
 */
async function abortedSoon(abort: AbortSignal): Promise<void> {
  const given = wait(SIGNAL_DELAY_MS, undefined, { signal: abort })
  await given.catch(() => undefined) // aborted: that is what it waited for
}

/** True when nothing more can be written beside a file: what a command printed into it may then be lost in part. */
function isDiskFull(path: string): boolean {
  try {
    const { blocks, bavail, bfree } = statfsSync(dirname(path))
    const free = process.getuid?.() === 0 ? bfree : bavail // some blocks are kept for root
    return blocks > 0 && free === 0 // file systems that have no blocks are never full
  } catch {
    return false // its directory is gone; whoever writes there next says so
  }
}
