import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'

const AGENT_COMMANDS = new Set(['run', 'continue'])

/**
 * True when a command is by its name an agent of its own: `delta run`, `delta continue`, also with `delta`'s whole path,
 * which may begin with a variable.
 */
export function isAgentCommand(command: readonly string[]): boolean {
  const [program = '', subcommand = ''] = command
  const named = program === 'delta' || (/^[/$]/.test(program) && program.endsWith('/delta'))
  return named && AGENT_COMMANDS.has(subcommand)
}

interface Place {
  cwd: string
  /** With which the command is started. */
  env: NodeJS.ProcessEnv
  /** The environment of the run, which nothing in the agent's files has changed. */
  trusted: NodeJS.ProcessEnv
}

/**
 * True when such a command starts `delta` itself, and may have the credentials: the `delta` that the run's own `PATH` finds
 * first, or the program that runs now. Another file of that name could be anybody's, a model's too.
 */
export function startsDelta(command: readonly string[], { cwd, env, trusted }: Place): boolean {
  if (!isAgentCommand(command)) return false
  const [program = ''] = command
  const started = isAbsolute(program) ? program : find(program, directoriesOf(env, cwd))
  const own = find('delta', (trusted.PATH ?? '').split(':').filter(isAbsolute))
  return started !== undefined && [own, process.argv[1]].some((known) => isSameFile(started, known))
}

function directoriesOf({ PATH = '' }: NodeJS.ProcessEnv, cwd: string): string[] {
  return PATH.split(':').map((directory) => resolve(cwd, directory))
}

function find(program: string, directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, program)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false // missing, or not for us: the system looks further, too
  }
}

function isSameFile(path: string, other: string | undefined): boolean {
  try {
    return other !== undefined && realpathSync(path) === realpathSync(other)
  } catch {
    return false // one of them is not there
  }
}
