import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import type { LoadedAgent, WorkspaceEndpoint } from '@delta/config-loader'
import { findCredentials } from '@delta/workspace'
import { evalPaths } from './layout.js'

interface Where {
  /** The directory of the evaluation. */
  directory: string
  env: NodeJS.ProcessEnv
  ask?: ((endpoint: WorkspaceEndpoint) => Promise<boolean>) | undefined
  trustWorkspaceEnv?: boolean | undefined
}

/**
 * The keys of an agent in `inputs/`. They lie beside the agent where it came from: `.env` is not in `inputs/`.
 *
 * @param original - Where it came from; null for one of ours.
 */
export function findKeys(
  agent: LoadedAgent,
  original: string | null,
  { directory, env, ask, trustWorkspaceEnv }: Where,
): ReturnType<typeof findCredentials> {
  const path = original === null ? agent.home : resolve(directory, original)
  const home = isThere(path) ? path : agent.home
  return findCredentials(
    { ...agent, home },
    {
      workDirectory: evalPaths(directory).inputs,
      surroundings: { cwd: directory, env },
      ask,
      trustWorkspaceEnv,
    },
  )
}

function isThere(path: string): boolean {
  return isAbsolute(path) && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
}
