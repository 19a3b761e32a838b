/**
 * What happens when an output cannot be written. A reader that has gone (`| head`) is no error: a run goes on to its end,
 * and whatever only prints stops. Anything else, such as a full disk, is said and makes the exit code 1.
 */
export function watchOutputs(host: NodeJS.Process, { goesOn }: { goesOn: boolean }): void {
  host.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') fail(host, error)
    else if (!goesOn) host.exit(0)
  })
  host.stderr.on('error', () => {
    // nobody reads what we have to say; the exit code still does
  })
}

function fail(host: NodeJS.Process, error: Error): void {
  host.stderr.write(`Error: The result could not be written: ${error.message}\n`)
  host.once('exit', () => {
    if (!host.exitCode) host.exitCode = 1
  })
}
