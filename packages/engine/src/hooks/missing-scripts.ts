import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'

const OWN = '${AGENT_HOME}/'
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
 * What to tell a person of hooks whose program or script should lie in the agent's directory and does not: such a hook is
 * called for the first time in the middle of a run. Any other program may be installed, or made by a tool, until then.
 */
export function missingScripts({ home, hooks }: Agent): string[] {
  return Object.entries(hooks).flatMap(([name, { command }]) => {
    const index = INTERPRETERS.has(command[0] ?? '') ? 1 : 0
    const written = command[index]
    if (!written?.startsWith(OWN) || written.includes('${', OWN.length)) return []
    const path = join(home, written.slice(OWN.length))
    const problem = problemWith(path, index === 0 ? constants.X_OK : constants.R_OK)
    return problem === undefined ? [] : [`The ${name} hook will fail: ${path} ${problem}.`]
  })
}

function problemWith(path: string, mode: number): string | undefined {
  try {
    accessSync(path, mode)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist'
    return mode === constants.X_OK ? 'is not executable (chmod +x)' : 'may not be read by you'
  }
}
