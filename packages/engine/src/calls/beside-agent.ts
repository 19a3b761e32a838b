import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'

/** How an author names a file in the agent's directory. */
export const HOME_PREFIX = '${AGENT_HOME}/'

/** Programs whose first argument, if it is no option, is a file they read. */
const INTERPRETERS = new Set([
  'sh',
  'bash',
  'dash',
  'zsh',
  'ksh',
  'python',
  'python3',
  'node',
  'perl',
  'ruby',
])

/**
 * What to write instead, when a command names its program, or the script of an interpreter, by a relative path that exists
 * in the agent's directory but not in the `directory` where the command runs. A clause; undefined for any other command.
 *
 * @param notFound - The program is not on the `PATH` either.
 */
export function meantBesideAgent(
  command: readonly string[],
  { home, directory, notFound = false }: { home: string; directory: string; notFound?: boolean },
): string | undefined {
  const { written, isProgram } = fileOf(command)
  if (written === undefined || isAbsolute(written) || /^-|\$\{/.test(written)) return undefined
  if (!existsSync(join(home, written))) return undefined
  if (isProgram && !written.includes('/'))
    return notFound
      ? `${written} is in the agent's directory: write ${HOME_PREFIX}${written} instead`
      : undefined
  if (existsSync(join(directory, written))) return undefined
  return `${written} is looked for in ${directory}, but is in the agent's directory: write ${HOME_PREFIX}${normalize(written)} instead`
}

/** The word of a command that may name a file of the author's: the program, or an interpreter's script. */
export function fileOf(command: readonly string[]): { written: string | undefined; isProgram: boolean } {
  const isProgram = !INTERPRETERS.has(command[0] ?? '')
  return { written: command[isProgram ? 0 : 1], isProgram }
}
