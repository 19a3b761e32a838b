import type { EventEmitter } from 'node:events'
import { closeSync, fstatSync, statSync } from 'node:fs'
import { createInterface, type Interface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { killRunningCommands } from '@delta/executor'
import { explainSystemError, UsageError } from './usage.js'

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

export const EXIT = { completed: 0, failed: 1, usage: 2, busy: 6, waiting: 101 } as const

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
      streams.stdin ??= inputOf(host).on('error', () => {
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

/** Node.js throws if the terminal is closed at the moment it is opened. Then, as when it is closed later, there is no input. */
function inputOf(host: NodeJS.Process): NodeJS.ReadStream {
  try {
    return host.stdin
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_TTY_INIT_FAILED') throw error
    return host.getBuiltinModule('node:stream').Readable.from([]) as NodeJS.ReadStream
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
 * Lets a process end with its own exit code although its terminal is gone (a closed window, a lost connection). Node.js
 * restores the terminal's modes on exit and aborts if that fails; it leaves closed descriptors alone.
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

type Input = Terminal['stdin']

/** Lines that arrived together with an earlier one, by stream: a pipe delivers several at once. */
const buffered = new WeakMap<Input, AsyncIterator<string>>()

/**
 * Asks on stderr and reads the next line of stdin, a terminal or not, without its newline; undefined at end of input. What was
 * typed before the question does not answer it. A pipe holds prepared answers, one line for each question.
 */
export async function readLine(prompt: string, { stdin, stderr }: Terminal): Promise<string | undefined> {
  await forgetTyped(stdin)
  stderr.write(prompt)
  if (stdin.isTTY) return stdin.destroyed ? undefined : readTyped(stdin)
  if (!buffered.has(stdin) && (stdin.readableEnded || stdin.destroyed)) return undefined // `-m -` has read it all
  const lines = buffered.get(stdin) ?? open(stdin)[Symbol.asyncIterator]()
  buffered.set(stdin, lines)
  stdin.ref?.()
  const next = await lines.next()
  stdin.unref?.()
  return next.done ? undefined : next.value
}

/**
 * Drops what was typed at a terminal so far, with or without Enter. In raw mode the system hands all of it out, and a stream without
 * a listener forgets it; by the second turn of the event loop it has been read.
 */
async function forgetTyped(stdin: Input): Promise<void> {
  if (!stdin.isTTY) return
  stdin.setRawMode?.(true)
  stdin.resume()
  await nextTurn()
  await nextTurn()
  stdin.pause()
  stdin.setRawMode?.(false)
}

/** What a terminal sends for arrows and the like. They move nothing here, and are not part of an answer. */
const ARROWS = /\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])/g

/** A terminal delivers a line at a time; nothing may listen when the next one is typed hidden. */
async function readTyped(stdin: Input): Promise<string | undefined> {
  return (await lineOf(open(stdin)))?.replace(ARROWS, '')
}

/** No `output`: on a terminal the system edits the line and turns Ctrl+C into a signal. */
function open(stdin: Input): Interface {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY })
}

/** Anything behind the first line is dropped. Undefined at end of input, or when the terminal has gone. */
function lineOf(reader: Interface): Promise<string | undefined> {
  return new Promise((resolve) => {
    reader.once('line', (line) => {
      resolve(line)
      reader.close()
    })
    reader.on('error', () => resolve(undefined)) // a terminal that breaks while it is read
    reader.once('close', () => resolve(undefined))
  })
}

/**
 * Reads a line without echo. Echoing stops before the prompt is shown, so that a person who types at once, or a program that
 * waits for the prompt, is not echoed either. Anything pasted after the end of the line is dropped: it may be part of the
 * secret, and the next question may echo its answer. Undefined when `signal` is aborted, at end of input, or when the
 * terminal has gone.
 */
export async function readHidden(
  prompt: string,
  { stdin, stderr, signals }: Terminal,
  signal: AbortSignal,
): Promise<string | undefined> {
  await forgetTyped(stdin)
  stdin.ref?.()
  const reader = createInterface({ input: stdin, terminal: true, historySize: 0, signal }) // without an `output` to echo to
  reader.on('SIGINT', () => signals.emit('SIGINT', 'SIGINT'))
  const line = lineOf(reader)
  stderr.write(prompt)
  return line
}
