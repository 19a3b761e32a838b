import type { EventEmitter } from 'node:events'
import { closeSync, fstatSync, statSync } from 'node:fs'
import { killRunningCommands } from '@delta/executor'
import { explainSystemError } from '@delta/workspace/internal'
import { UsageError } from './usage.js'

/** Everything a command sees of the outside world, so that a test can replace it. */
export interface Terminal {
  /** Arguments after the program's name. */
  argv: string[]
  env: NodeJS.ProcessEnv
  /** Absolute path. */
  cwd: string
  stdin: NodeJS.ReadStream
  /** Results only. */
  stdout: NodeJS.WriteStream
  /** Everything else: progress, notices, errors. */
  stderr: NodeJS.WriteStream
  /** Emits SIGINT, SIGTERM and SIGHUP; `uncaughtExceptionMonitor` and `exit`, as a process does. */
  signals: EventEmitter
  /** Ends the process at once; only for a second Ctrl+C. */
  exit(exitCode: number): void
}

export const EXIT = {
  completed: 0,
  failed: 1,
  usage: 2,
  different: 3,
  busy: 6,
  protocol: 9,
  waiting: 101,
} as const

/** Exit codes of a run that a signal stopped, by the signal's name. */
export const SIGNAL_EXIT: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 }

/** The command was ended by a signal before it had a result. */
export class StoppedError extends Error {
  override readonly name = 'StoppedError'
  readonly code = 'ERR_CLI_STOPPED'
  readonly signal: string

  /** @param consequence - A sentence about the effect. */
  constructor({ reason }: AbortSignal, cause: unknown, consequence = '') {
    super(`Stopped (${reason}). ${consequence}`.trimEnd(), { cause })
    this.signal = String(reason)
  }
}

/**
 * Aborts on the first SIGINT, SIGTERM or SIGHUP, with its name as the reason. A second one kills the running commands, calls
 * `onExit` and ends the process at once; so does an uncaught error.
 */
export function stopSignal(
  terminal: Terminal,
  { onFirst, onExit }: { onFirst?: (name: string) => void; onExit?: () => void } = {},
): { signal: AbortSignal; [Symbol.dispose](): void } {
  const controller = new AbortController()
  const handlers = Object.keys(SIGNAL_EXIT).map((name) => {
    const handler = (): void => {
      if (controller.signal.aborted) {
        killRunningCommands()
        onExit?.()
        terminal.exit(SIGNAL_EXIT[name] ?? EXIT.failed)
        return
      }
      controller.abort(name) // first, so that an open question ends its line
      onFirst?.(name)
    }
    terminal.signals.on(name, handler)
    return { name, handler }
  })
  const onMistake = (): void => {
    killRunningCommands()
    if (onExit) terminal.signals.once('exit', onExit) // below the report of the error
  }
  terminal.signals.on('uncaughtExceptionMonitor', onMistake)
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      terminal.signals.off('uncaughtExceptionMonitor', onMistake)
      for (const { name, handler } of handlers) terminal.signals.off(name, handler)
    },
  }
}

const RESULT_IS_KEPT =
  'The run itself is recorded, so do not repeat it: free some space, and "delta show --answer" prints the answer.'

/**
 * A process as commands see it. Its streams are created on first use, because each costs start-up time, and are watched from
 * then on. A reader that has gone (`| head`, a closed terminal) is not an error: the command finishes, and its exit code still
 * counts. Any other failure, such as a full disk, is reported and makes the exit code 1.
 */
export function terminalOf(host: NodeJS.Process): Terminal {
  const argv = host.argv.slice(2)
  const [command = ''] = argv
  const streams: Partial<Pick<Terminal, 'stdin' | 'stdout' | 'stderr'>> = {}
  return {
    argv,
    env: host.env,
    get cwd() {
      return currentDirectory(host)
    },
    get stdin() {
      streams.stdin ??= host.stdin.on('error', () => {
        // the terminal is gone; readers find the end of input
      })
      return streams.stdin
    },
    get stdout() {
      streams.stdout ??= host.stdout.on('error', (error: NodeJS.ErrnoException) => {
        // repeating a run would do its work twice
        if (!hasNoReader(error, host.stdout))
          fail(host, error, ['run', 'continue'].includes(command) ? RESULT_IS_KEPT : undefined)
        else if (command === 'show') host.exit(0) // it only prints, for as long as a run lasts
      })
      return streams.stdout
    },
    get stderr() {
      streams.stderr ??= host.stderr.on('error', () => {
        // without a reader of messages, the exit code remains
      })
      return streams.stderr
    },
    signals: host,
    exit: (exitCode) => host.exit(exitCode),
  }
}

function currentDirectory(host: NodeJS.Process): string {
  try {
    return host.cwd()
  } catch (cause) {
    const message = 'The current directory has been deleted. Change to one that exists, and try again.'
    throw new UsageError(message, { cause })
  }
}

function hasNoReader({ code }: NodeJS.ErrnoException, { isTTY }: NodeJS.WriteStream): boolean {
  return code === 'EPIPE' || (isTTY && code === 'EIO') // for a file, EIO means a broken disk
}

/** Every failed write emits an error of its own; only the first is reported. */
const failed = new WeakSet<NodeJS.Process>()

function fail(host: NodeJS.Process, error: Error, remedy: string | undefined): void {
  if (failed.has(host)) return
  failed.add(host)
  const reason = explainSystemError(error, remedy) ?? error.message
  host.stderr.write(`Error: The result could not be written: ${reason}\n`)
  host.once('exit', () => {
    if (!host.exitCode) host.exitCode = 1
  })
}

/**
 * Lets a process end with its own exit code although its terminal is gone (a closed window, a lost connection): Node.js 20 restores
 * the terminal's modes at its end, and aborts if that fails. It leaves closed descriptors alone.
 */
export function closeDeadTerminals(): void {
  for (const fd of [0, 1, 2]) if (isDeadTerminal(fd)) closeSync(fd)
}

/** A device that was a terminal, but no longer responds as one. `/dev/null` is a device, too, and often gets our output. */
function isDeadTerminal(fd: number): boolean {
  try {
    const status = fstatSync(fd)
    if (!status.isCharacterDevice() || status.rdev === statSync('/dev/null').rdev) return false
    return !process.getBuiltinModule('node:tty').isatty(fd) // loaded only here, because it loads networking code
  } catch {
    return false // closed already
  }
}
