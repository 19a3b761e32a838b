import { join, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import type { Terminal } from '../terminal/terminal.js'
import { spokenName } from '../usage/spoken-name.js'
import { UsageError } from '../usage/usage-error.js'
import { isReadableDirectory } from './is-readable-directory.js'
import { lastUsedIn, workspacesIn } from './workspace-names.js'

/** What to type where a directory holds no runs: the same command on the workspace last used there, if there is one. */
export function otherWorkspace(
  command: readonly string[],
  { workDir }: { workDir: string },
  { cwd, env }: Terminal,
): string {
  const last = lastWorkspaceIn(workDir, cwd)
  if (last === undefined) return '-w names another workspace.'
  return `Those of the workspace last used there: ${quoteForPerson([...spokenName(env), ...command, '-w', last])}`
}

/** Adds to the news that a directory holds no runs the command to type for the workspace last used there, if there is one. */
export function withLastWorkspace(
  error: unknown,
  command: readonly string[],
  { workDir, terminal: { cwd, env } }: { workDir: string; terminal: Terminal },
): unknown {
  const { code, message } = Object(error) as { code?: unknown; message?: string }
  const last = code === 'ERR_ENGINE_RUN_NOT_FOUND' ? lastWorkspaceIn(workDir, cwd) : undefined
  if (last === undefined) return error
  const [name = '', ...rest] = command
  const typed = quoteForPerson([...spokenName(env), name, '-w', last, ...rest])
  return new UsageError(`${message}\nOf the workspace last used there: ${typed}`, { cause: error })
}

/**
 * The workspace that `delta run` without `-w` used last, or made last, in a directory that is no workspace but may be
 * an agent's: as it can be typed behind `-w`. Undefined where there is none.
 *
 * @param workDir - The directory as it was typed.
 */
export function lastWorkspaceIn(workDir: string, cwd: string): string | undefined {
  const home = resolve(cwd, workDir, 'workspaces')
  if (!isReadableDirectory(home)) return undefined
  const names = workspacesIn(home)
  const used = lastUsedIn(home)
  const name = names.find((each) => each === used) ?? names.at(-1)
  return name === undefined ? undefined : join(workDir, 'workspaces', name)
}
