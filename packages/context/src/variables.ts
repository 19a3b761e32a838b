import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'

/** What `${AGENT_HOME}`, `${CWD}` and `${RUN_DIR}` stand for: absolute directories. */
export interface ContextVariables {
  AGENT_HOME: string
  CWD: string
  RUN_DIR: string
}

export const VARIABLE_NAMES: readonly string[] = ['AGENT_HOME', 'CWD', 'RUN_DIR']

/** Replaces the engine's variables; every other text stays as it is. */
export function replaceVariables(text: string, variables: ContextVariables): string {
  return text.replaceAll(
    /\$\{(AGENT_HOME|CWD|RUN_DIR)\}/g,
    (_, name: keyof ContextVariables) => variables[name],
  )
}

/** A text of `context.yaml` with the engine's variables replaced; with a backslash before it one is meant literally. */
export function fillText(text: string, variables: ContextVariables): string {
  return text.replaceAll(/\\?\$\{[^}]*\}/g, (written) => {
    return written.startsWith('\\') ? written.slice(1) : replaceVariables(written, variables)
  })
}

/** A path of `context.yaml` as an absolute one. Relative ones start at `base`. */
export function resolvePath(path: string, variables: ContextVariables, base: keyof ContextVariables): string {
  return resolve(variables[base], replaceVariables(path, variables))
}

/**
 * Where a path that is written as one in the workspace leads, if that is outside of it: tools can make links there, and what the
 * engine opens for the agent stands outside of any sandbox. The agent's directory, which may lie in the workspace, counts as inside.
 * A path elsewhere is the author's decision.
 *
 * @param opened - What was opened by that path: only a file that is the same is what was looked at here.
 * @returns undefined for a path that stays inside.
 */
export function whereItLeads(
  path: string,
  { CWD, AGENT_HOME }: ContextVariables,
  opened?: BigIntStats,
): string | undefined {
  if (!isInside(path, CWD)) return undefined
  const real = realPathOf(path)
  if (opened !== undefined) {
    const { ino, dev } = statSync(real, { bigint: true })
    if (ino !== opened.ino || dev !== opened.dev) return real
  }
  return [CWD, AGENT_HOME].some((root) => isInside(real, realPathOf(root))) ? undefined : real
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

function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}
