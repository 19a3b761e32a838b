import { dirname, join, resolve } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import type { Terminal } from '../terminal/terminal.js'
import { spokenName } from '../usage/spoken-name.js'
import { UsageError } from '../usage/usage-error.js'
import { isReadableDirectory } from './is-readable-directory.js'
import { isWorkspace } from './known-workspaces.js'
import { lastUsedIn, workspacesIn } from './workspace-names.js'

/** Advice for a directory without runs: the same command for the workspace that was probably meant. */
export function otherWorkspace(
  command: readonly string[],
  { workDir }: { workDir: string },
  { cwd, env }: Terminal,
): string {
  const near = workspaceNear(workDir, { cwd, env })
  if (near === undefined) return '-w names another workspace.'
  const typed = quoteForPerson([...spokenName(env), ...command, '-w', near.workspace])
  return `For those of the workspace ${near.isAbove ? 'it is in' : 'last used there'}: ${typed}`
}

/** Adds to the error that a directory holds no runs the command for the workspace that was probably meant, if there is one. */
export function withOtherWorkspace(
  error: unknown,
  command: readonly string[],
  { workDir, terminal: { cwd, env } }: { workDir: string; terminal: Terminal },
): unknown {
  const { code, message } = Object(error) as { code?: unknown; message?: string }
  const near = code === 'ERR_ENGINE_RUN_NOT_FOUND' ? workspaceNear(workDir, { cwd, env }) : undefined
  if (near === undefined) return error
  const [name = '', ...rest] = command
  const typed = quoteForPerson([...spokenName(env), name, '-w', near.workspace, ...rest])
  const which = near.isAbove ? 'it is in' : 'last used there'
  return new UsageError(`${message}\nFor the workspace ${which}: ${typed}`, { cause: error })
}

/**
 * The workspace that was probably meant by a directory without runs: the one last used there, or else the nearest above. It
 * is only suggested: a command that used it unasked might continue a run that was not meant.
 *
 * @param workDir - The directory as it was typed.
 */
function workspaceNear(
  workDir: string,
  { cwd, env }: Pick<Terminal, 'cwd' | 'env'>,
): { workspace: string; isAbove: boolean } | undefined {
  const last = lastWorkspaceIn(workDir, cwd)
  if (last !== undefined) return { workspace: last, isAbove: false }
  const above = workspaceAbove(resolve(cwd, workDir), env)
  return above === undefined ? undefined : { workspace: above, isAbove: true }
}

function workspaceAbove(directory: string, env: NodeJS.ProcessEnv): string | undefined {
  const above = dirname(directory)
  if (above === directory) return undefined
  return isWorkspace(above, env) ? above : workspaceAbove(above, env)
}

/**
 * The workspace that `delta run` without `-w` last used or created in a directory, which may be an agent's: as it can be
 * typed after `-w`. Undefined if there is none.
 *
 * @param workDir - The directory as it was typed.
 */
function lastWorkspaceIn(workDir: string, cwd: string): string | undefined {
  const home = resolve(cwd, workDir, 'workspaces')
  if (!isReadableDirectory(home)) return undefined
  const names = workspacesIn(home)
  const used = lastUsedIn(home)
  const name = names.find((each) => each === used) ?? names.at(-1)
  return name === undefined ? undefined : join(workDir, 'workspaces', name)
}
