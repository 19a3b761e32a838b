import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize } from 'node:path'

/** How an author names a file beside the agent. */
export const OWN = '${AGENT_HOME}/'

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
 * What to write instead of a relative path, of a program or of the script of an interpreter, that names nothing in the
 * `directory` where the command runs but a file beside the agent; `notFound` says that the program is not on the `PATH`
 * either. A clause; undefined for any other command.
 */
export function meantBesideAgent(
  command: readonly string[],
  { home, directory, notFound = false }: { home: string; directory: string; notFound?: boolean },
): string | undefined {
  const { written, isProgram } = fileOf(command)
  if (written === undefined || isAbsolute(written) || /^-|\$\{/.test(written)) return undefined
  if (!existsSync(join(home, written))) return undefined
  if (isProgram && !written.includes('/'))
    return notFound ? `${written} is in the agent's directory: write ${OWN}${written} instead` : undefined
  if (existsSync(join(directory, written))) return undefined
  return `${written} is looked for in ${directory}, but is in the agent's directory: write ${OWN}${normalize(written)} instead`
}

/** The word of a command that names a file of its author's: the program, or what an interpreter reads. */
export function fileOf(command: readonly string[]): { written: string | undefined; isProgram: boolean } {
  const isProgram = !INTERPRETERS.has(command[0] ?? '')
  return { written: command[isProgram ? 0 : 1], isProgram }
}
