import { explainSystemError } from './system-error.js'

interface Streams {
  stdin(): NodeJS.ReadStream
  stdout(): NodeJS.WriteStream
  stderr(): NodeJS.WriteStream
}

/**
 * The streams, watched from their first use on. A reader that has gone (`| head`, a closed terminal) is no error: a command
 * goes on to its end, whose exit code may say what nobody read. Anything else, such as a full disk, is said and makes the
 * exit code 1.
 *
 * @param onlyPrints - The command has no more to say than what is read: it stops with its reader, with 0.
 * @param remedy - What to do about a result that could not be written, where trying again is not it.
 */
export function watchedStreams(
  host: NodeJS.Process,
  { onlyPrints, remedy }: { onlyPrints: boolean; remedy?: string | undefined },
): Streams {
  return {
    stdin: once(() =>
      inputOf(host).on('error', () => {
        // a terminal that is gone; whoever reads finds the end of input
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
        // nobody reads what we have to say; the exit code still does
      }),
    ),
  }
}

/** Node throws if the terminal is closed in the instant in which it is opened. As when it is closed later, nobody types. */
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
  return code === 'EPIPE' || (isTTY && code === 'EIO') // of a file EIO is a broken disk
}

/** Each piece that could not be written makes an error of its own; the first one says it. */
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
