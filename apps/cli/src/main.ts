import { createRequire } from 'node:module'
import { watchOutputs } from './broken-output.js'
import type { Terminal } from './terminal.js'

/**
 * The `delta` command: arguments in, exit code out. `--version` is answered before anything else is loaded,
 * and each command loads only what it needs.
 *
 * @param host - `process`, or something with the same parts.
 */
export async function main(host: NodeJS.Process): Promise<number> {
  const argv = host.argv.slice(2)
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
    host.stdout.write(`${version()}\n`)
    return 0
  }
  watchOutputs(host, { goesOn: argv[0] === 'run' || argv[0] === 'continue' })
  const terminal: Terminal = {
    argv,
    env: host.env,
    cwd: host.cwd(),
    stdin: host.stdin,
    stdout: host.stdout,
    stderr: host.stderr,
    signals: host,
    exit: (exitCode) => host.exit(exitCode),
  }
  if (argv[0] === 'sessions') {
    return (await import('./commands/sessions.js')).execute({}, terminal, argv.slice(1))
  }
  return (await import('./program.js')).runProgram(terminal)
}

function version(): string {
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version
}
