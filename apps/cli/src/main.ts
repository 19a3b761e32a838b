import { type Terminal, terminalOf } from './terminal.js'

/**
 * The `delta` command: arguments in, exit code out. Each command loads only what it needs.
 *
 * @param host - `process`, or something with the same parts.
 */
export async function main(host: NodeJS.Process): Promise<number> {
  const terminal = terminalOf(host)
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
