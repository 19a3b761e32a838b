import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { signalGroup } from '@delta/durable'
import type { ByteFilter } from '../channels.js'
import { type CapturedOutput, type Channels, type Keep, nothingCaptured, openChannels } from '../channels.js'
import { ExecutorError } from '../errors.js'
import { isDiskFull } from './disk-room.js'
import { explainStartError, type StartError } from './start-error.js'
import { type Ending, untilEnded } from './until-ended.js'

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
    running.add(pid)
    channels.connect(child, () => signalGroup(pid, 'SIGKILL'))
    options.onSpawn?.({ pid })
    const ending = await untilEnded(started, options)
    await channels.drain()
    const full = options.stdoutPath !== undefined && isDiskFull(options.stdoutPath)
    return {
      durationMs: durationMs(),
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

function notRun(ending: Ending, durationMs: number): CommandOutcome {
  return { durationMs, stdout: nothingCaptured(), stderr: nothingCaptured(), ...ending }
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
      env: options.filter && options.stdin !== undefined ? belowShell(options.env) : options.env,
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

/** `bash -c` takes a socket, as a pipe of Node's is one, for a login from afar and runs `~/.bashrc`, unless it is below a shell. */
function belowShell(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Number(env.SHLVL) > 0 ? env : { ...env, SHLVL: '1' }
}
