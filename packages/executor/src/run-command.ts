import { type ChildProcess, spawn } from 'node:child_process'
import { once, setMaxListeners } from 'node:events'
import { accessSync, constants, existsSync, statfsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { endGroup } from '@delta/durable'
import { signalGroup } from '@delta/durable/internal'
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
  /** The whole environment. With `filter` and `stdin`, a missing `SHLVL` becomes 1; nothing else is added. */
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
  /** How much both streams together may write, measured four times a second. 0 or absent: no limit. */
  maxOutputBytes?: number | undefined
  /** Time between TERM and KILL; default 2000. */
  graceMs?: number | undefined
  /** Ends the command, TERM first. If it is aborted already, the command is not started. */
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

/** Sends KILL synchronously to every process group that `runCommand` runs in this process: for a second Ctrl+C. */
export function killRunningCommands(): void {
  for (const pid of running) signalGroup(pid, 'SIGKILL')
}

/**
 * Runs one command, without a shell, in a process group of its own.
 *
 * Its output goes straight to files, so memory stays flat at any size. The promise settles when the process itself ends,
 * also if a grandchild keeps its output open. A timeout, too much output or an abort ends the whole group: TERM first, KILL
 * after the grace. Whatever happens to the command is an outcome, never an exception. A command that ends by itself leaves
 * its background processes running.
 *
 * @param argv - Program and arguments, passed on byte for byte.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: `argv` is empty. Also what `onSpawn` or `filter` throws, and the system's
 *   error when filtered output cannot be stored (`ENOSPC`).
 *
 * @example
 * const { status, exitCode, stdout } = await runCommand(['make', 'test'], { cwd, env: process.env, timeoutMs: 60_000 })
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
      ...channels.capture(),
      ...(full && { diskFull: true }),
    }
  } catch (error) {
    signalGroup(pid, 'SIGKILL') // the caller's onSpawn or filter threw: the command must not go on unwatched
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

/** Node's pipes are sockets. `bash -c` takes a socket on stdin for a remote login and runs `~/.bashrc`, unless SHLVL is above 0. */
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

/** Turns what `spawn` or `open` threw into a cause a person can act on: the first row that applies. */
function explainStartError(error: unknown, argv: readonly string[], cwd: string): StartError {
  const { code, syscall = '', path = 'A temporary file', message } = error as NodeJS.ErrnoException
  const [program = ''] = argv
  const sizes = argv.map((word) => Buffer.byteLength(word))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const unusable = whyUnusable(cwd)
  const isMissing = code === 'ENOENT'
  const isOnPath = !program.includes('/') && (isMissing || code === 'EACCES')
  const rows: [applies: boolean, StartErrorCode, message: string][] = [
    [
      ['open', 'write', 'unlink'].includes(syscall),
      'NO_OUTPUT_FILE',
      `${path} cannot be written (${code}). Make its directory writable; that of temporary files is named by TMPDIR.`,
    ],
    [
      code === 'ERR_INVALID_ARG_VALUE',
      'NUL_BYTE',
      'An argument or environment variable of the command holds a NUL byte, which no command can be given there. Pass it through stdin.',
    ],
    [
      code === 'E2BIG',
      'TOO_LARGE',
      `The arguments are ${bytes} bytes together, the longest ${Math.max(...sizes)}: more than the system passes to a command. ${BY_STDIN}`,
    ],
    [
      unusable !== undefined,
      'NO_CWD',
      `The working directory ${cwd} cannot be entered (${unusable}). Create it, or give another cwd.`,
    ],
    [
      isOnPath,
      'NOT_FOUND',
      `"${program}" is not on the PATH. Install it, write its path, or write shell: if the shell does it itself, as with cd.`,
    ],
    [
      isMissing && existsSync(resolve(cwd, program)),
      'NOT_FOUND',
      `"${program}" exists, but the interpreter its first line names does not. Check the #! line; it must end with LF, not CR LF.`,
    ],
    [
      isMissing,
      'NOT_FOUND',
      `"${program}" does not exist. Check the path; a relative one starts at the working directory.`,
    ],
    [
      code === 'EACCES',
      'NOT_EXECUTABLE',
      `"${program}" is not an executable file. Check its path, and its permissions (chmod +x).`,
    ],
    [true, 'FAILED', `"${program}" could not be started (${code ?? 'no code'}): ${message}`],
  ]
  const [, kind, text] = rows.find(([applies]) => applies) as (typeof rows)[number] // the last one always does
  return { code: kind, message: text }
}

function whyUnusable(directory: string): string | undefined {
  try {
    accessSync(join(directory, '/'), constants.X_OK) // the slash excludes a file
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

type StopReason = 'TIMEOUT' | 'ABORTED' | 'TOO_MUCH_OUTPUT'

/** How a command ended, or why it did not start, told apart by `status`. */
type Ending =
  | { status: 'EXITED'; exitCode: number; signal: null; startError?: undefined }
  | { status: 'SIGNALED'; exitCode: null; signal: NodeJS.Signals; startError?: undefined }
  // It was stopped, and ended with an exit code or by a signal; with neither if it was aborted before it started.
  | { status: StopReason; exitCode: number | null; signal: NodeJS.Signals | null; startError?: undefined }
  | { status: 'NOT_STARTED'; exitCode: null; signal: null; startError: StartError }

const DEFAULT_GRACE_MS = 2000
/** A command that prints too much may go on printing during its grace. */
const PRINTER_GRACE_MS = 250
/** How much later than the end of a command this process may handle a signal that was sent before it. */
const SIGNAL_DELAY_MS = 50
const MEASURED_EVERY_MS = 250
/** Node turns a longer timer into one of 1 ms. */
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
    // one signal may end any number of commands; node takes the eleventh listener for a leak
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

/** The command writes its output by itself, and the system has no limit for just these two files: their size is measured. */
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
 * Ctrl+C signals this process and the command at once, and this process may notice the command's end before its own signal,
 * which can be delivered to a sleeping thread.
 */
async function abortedSoon(abort: AbortSignal): Promise<void> {
  const given = wait(SIGNAL_DELAY_MS, undefined, { signal: abort })
  await given.catch(() => undefined) // aborted: that is what it waited for
}

/** True when the disk of a file is full: what a command printed into it may be lost in part. */
function isDiskFull(path: string): boolean {
  try {
    const { blocks, bavail, bfree } = statfsSync(dirname(path))
    const free = process.getuid?.() === 0 ? bfree : bavail // some blocks are kept for root
    return blocks > 0 && free === 0 // a file system without blocks is never full
  } catch {
    return false // its directory is gone; the next write there reports it
  }
}
