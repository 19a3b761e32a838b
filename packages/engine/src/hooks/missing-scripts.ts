import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { fileOf, meantBesideAgent, OWN } from '../calls/beside-agent.js'

/**
 * What to tell a person of hooks whose program or script should lie in the agent's directory and does not, or is looked
 * for in the workspace and lies there: such a hook is called for the first time in the middle of a run. Any other program
 * may be installed, or made by a tool, until then.
 */
export function missingScripts({ home, hooks }: Agent, workDirectory: string): string[] {
  return Object.entries(hooks).flatMap(([name, { command }]) => {
    const problem = problemIn(command, { home, directory: workDirectory })
    return problem === undefined ? [] : [`The ${name} hook will fail: ${problem}`]
  })
}

function problemIn(
  command: readonly string[],
  where: { home: string; directory: string },
): string | undefined {
  const { written, isProgram } = fileOf(command)
  if (!written?.startsWith(OWN) || written.includes('${', OWN.length)) return meantBesideAgent(command, where)
  const path = join(where.home, written.slice(OWN.length))
  const problem = problemWith(path, isProgram ? constants.X_OK : constants.R_OK)
  return problem === undefined ? undefined : `${path} ${problem}.`
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
