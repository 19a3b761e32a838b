import { accessSync, constants } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { fileOf, HOME_PREFIX, meantBesideAgent } from '../calls/beside-agent.js'

/**
 * Warnings about hooks whose program or script is missing from the agent's directory, or is in it but looked up in the
 * workspace. Said at the start, because such a hook would fail only in the middle of the run. Any other program may be
 * installed, or made by a tool, by then.
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
  if (!written?.startsWith(HOME_PREFIX) || written.includes('${', HOME_PREFIX.length))
    return meantBesideAgent(command, where)
  const path = join(where.home, written.slice(HOME_PREFIX.length))
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
