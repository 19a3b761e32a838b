import { type BigIntStats, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { isInside, realPath } from '@delta/durable/internal'

/** The values of `${AGENT_HOME}`, `${CWD}` and `${RUN_DIR}`: absolute directories. */
export interface ContextVariables {
  /** Absent: the agent has no directory, and its generators get no such variable. */
  AGENT_HOME?: string | undefined
  CWD: string
  RUN_DIR: string
}

/** Replaces the engine's variables, and no others. */
export function replaceVariables(text: string, variables: ContextVariables): string {
  return text.replaceAll(
    /\$\{(AGENT_HOME|CWD|RUN_DIR)\}/g,
    (written, name: keyof ContextVariables) => variables[name] ?? written,
  )
}

/** Replaces the engine's variables in a text of `context.yaml`, except after a backslash. */
export function fillText(text: string, variables: ContextVariables): string {
  return text.replaceAll(/\\?\$\{[^}]*\}/g, (written) => {
    return written.startsWith('\\') ? written.slice(1) : replaceVariables(written, variables)
  })
}

/** Makes a path of `context.yaml` absolute. A relative path starts at `base`. */
export function resolvePath(path: string, variables: ContextVariables, base: keyof ContextVariables): string {
  return resolve(variables[base] ?? variables.CWD, replaceVariables(path, variables))
}

/**
 * The target of a path in the workspace, if links lead out of the workspace. Tools can make such links, and the engine opens files
 * outside of any sandbox. The agent's directory counts as inside. A path that is written elsewhere is the author's decision.
 *
 * @param opened - Status of the file that was opened by that path. Another file at the path now counts as outside.
 * @returns undefined for a path that stays inside.
 */
export function whereItLeads(
  path: string,
  { CWD, AGENT_HOME = CWD }: ContextVariables,
  opened?: BigIntStats,
): string | undefined {
  if (!isInside(path, CWD)) return undefined
  const real = opened === undefined ? realPath(path) : realpathSync(path)
  if (opened !== undefined) {
    const { ino, dev } = statSync(real, { bigint: true })
    if (ino !== opened.ino || dev !== opened.dev) return real
  }
  return [CWD, AGENT_HOME].some((root) => isInside(real, realPath(root))) ? undefined : real
}
