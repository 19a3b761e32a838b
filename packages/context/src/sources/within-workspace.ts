import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import type { ContextVariables } from '../manifest/variables.js'

/** The workspace, and the directory of the agent, which may lie in it. */
export type Place = Pick<ContextVariables, 'CWD' | 'AGENT_HOME'>

/**
 * Where a path that is written as one in the workspace leads, if that is outside of it: tools can make links there, and what the
 * engine opens for the agent stands outside of any sandbox. A path elsewhere is the author's decision.
 *
 * @param opened - What was opened by that path: only a file that is the same is what was looked at here.
 * @returns undefined for a path that stays inside.
 */
export function whereItLeads(path: string, place: Place, opened?: BigIntStats): string | undefined {
  if (!isInside(path, place.CWD)) return undefined
  const real = realPathOf(path)
  if (opened !== undefined && !isSameFile(statSync(real, { bigint: true }), opened)) return real
  return [place.CWD, place.AGENT_HOME].some((root) => isInside(real, realPathOf(root))) ? undefined : real
}

/** Of a path that does not exist yet, that of what there is of it. */
function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    const parent = dirname(path)
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error
    return realPathOf(parent)
  }
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.ino === other.ino && one.dev === other.dev
}

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}
