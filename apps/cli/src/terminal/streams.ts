import { closeSync, fstatSync, statSync } from 'node:fs'
import { explainSystemError } from '../usage.js'

interface Streams {
  stdin(): NodeJS.ReadStream
  stdout(): NodeJS.WriteStream
  stderr(): NodeJS.WriteStream
}

/**
 * The streams, watched from their first use. A reader that has gone (`| head`, a closed terminal) is not an error: the command
 * finishes, and its exit code still counts. Any other failure, such as a full disk, is reported and makes the exit code 1.
 *
 * @param onlyPrints - The command does nothing but print: it ends with its reader, with exit code 0.
 * @param remedy - What to do about a result that could not be written, if not to try again.
 */
export function watchedStreams(
  host: NodeJS.Process,
  { onlyPrints, remedy }: { onlyPrints: boolean; remedy?: string | undefined },
): Streams {
  return {
    stdin: once(() =>
      inputOf(host).on('error', () => {
        // the terminal is gone; readers find the end of input
      }),
    ),
    stdout: once(() =>
      host.stdout.on('error', (error: NodeJS.ErrnoException) => {
        if (!hasNoReader(error, host.stdout)) fail(host, error, remedy)
        else if (onlyPrints) host.exit(0)
      }),
    ),
    stderr: once(() =>
      host.stderr.on('error', () => {
        // nobody reads the messages; the exit code remains
      }),
    ),
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

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
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

/** A device that was a terminal, but no longer responds as one. */
function isDeadTerminal(fd: number): boolean {
  try {
    const status = fstatSync(fd)
    return status.isCharacterDevice() && status.rdev !== nowhere() && !isTerminal(fd)
  } catch {
    return false // closed already
  }
}

/** `/dev/null` is a device, too, and where other programs often send our output. */
function nowhere(): number {
  return statSync('/dev/null').rdev
}

/** `node:tty` is loaded only when needed, because it loads networking code. */
function isTerminal(fd: number): boolean {
  return process.getBuiltinModule('node:tty').isatty(fd)
}
