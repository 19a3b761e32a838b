import { type Terminal, watchedStreams } from './terminal.js'
import { UsageError } from './usage.js'

/**
 * The `delta` command: arguments in, exit code out. Each command loads only what it needs.
 *
 * @param host - `process`, or something with the same parts.
 */
export async function main(host: NodeJS.Process): Promise<number> {
  const argv = host.argv.slice(2)
  const terminal = terminalOf(host, argv)
  // once: where the program's own files are gone, saying so fails, too, and Node.js then ends it
  host.once('uncaughtException', async (error) => {
    host.exit((await import('./errors.js')).reportUncaught(terminal, error))
  })
  try {
    return await execute(terminal)
  } catch (error) {
    return (await import('./errors.js')).reportFailure(terminal, error)
  }
}

async function execute(terminal: Terminal): Promise<number> {
  if (terminal.argv[0] === 'tool:expand') terminal.argv.splice(0, 1, 'tool', 'expand') // its name in the papers
  const [command, ...words] = terminal.argv
  if (command === 'sessions' || (command === 'help' && words[0] === 'sessions')) {
    const typed = command === 'help' ? ['--help'] : words
    return (await import('./commands/sessions.js')).execute({}, terminal, typed)
  }
  if (command === '--agent') return (await import('./commands/describe-self.js')).execute({}, terminal)
  return (await import('./program.js')).runProgram(terminal)
}

/** Commands that may print for as long as a run lasts. The others soon end by themselves, with a meaningful exit code. */
const ONLY_PRINTS: ReadonlySet<string | undefined> = new Set(['show'])

/** Commands whose work is done and recorded before their result is printed: repeating them would do it twice. */
const WORKS: ReadonlySet<string | undefined> = new Set(['run', 'continue'])
const RESULT_IS_KEPT =
  'The run itself is recorded, so do not repeat it: free some space, and "delta show --answer" prints the answer.'

/** The streams are created on first use, because each costs start-up time. */
function terminalOf(host: NodeJS.Process, argv: string[]): Terminal {
  const watched = watchedStreams(host, {
    onlyPrints: ONLY_PRINTS.has(argv[0]),
    remedy: WORKS.has(argv[0]) ? RESULT_IS_KEPT : undefined,
  })
  return {
    argv,
    env: host.env,
    get cwd() {
      return currentDirectory(host)
    },
    get stdin() {
      return watched.stdin()
    },
    get stdout() {
      return watched.stdout()
    },
    get stderr() {
      return watched.stderr()
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
