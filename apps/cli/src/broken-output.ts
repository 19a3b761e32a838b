interface Outputs {
  stdout(): NodeJS.WriteStream
  stderr(): NodeJS.WriteStream
}

/**
 * The outputs, watched from their first use on. A reader that has gone (`| head`) is no error: a run goes on to its end,
 * and whatever only prints stops. Anything else, such as a full disk, is said and makes the exit code 1.
 */
export function watchedOutputs(host: NodeJS.Process, { goesOn }: { goesOn: boolean }): Outputs {
  return {
    stdout: once(() =>
      host.stdout.on('error', (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EPIPE') fail(host, error)
        else if (!goesOn) host.exit(0)
      }),
    ),
    stderr: once(() =>
      host.stderr.on('error', () => {
        // nobody reads what we have to say; the exit code still does
      }),
    ),
  }
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

function fail(host: NodeJS.Process, error: Error): void {
  host.stderr.write(`Error: The result could not be written: ${error.message}\n`)
  host.once('exit', () => {
    if (!host.exitCode) host.exitCode = 1
  })
}
