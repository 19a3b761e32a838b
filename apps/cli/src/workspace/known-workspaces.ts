import { existsSync, realpathSync } from 'node:fs'
import { readState, type StateFile } from '../state-directory.js'

interface KnownWorkspace {
  /** Absolute, without symbolic links; so is `runs_dir`. */
  path: string
  runs_dir: string
}

/** Which runs directory a workspace has. */
export const WORKSPACES: StateFile<KnownWorkspace> = {
  name: 'workspaces.jsonl',
  holds: 'where the runs of a workspace are kept',
  parse(line) {
    const { path, runs_dir } = Object(line) as Partial<Record<string, unknown>>
    return typeof path === 'string' && typeof runs_dir === 'string'
      ? { ...Object(line), path, runs_dir }
      : undefined
  },
  subject: ({ path }) => path,
  isCurrent: ({ path }) => existsSync(path),
}

/** `known` gives the runs directory that is remembered of a workspace. */
export function readWorkspaces(env: NodeJS.ProcessEnv): {
  known: (workDirectory: string) => string | undefined
  problem?: string
} {
  const { entries, problem } = readState(WORKSPACES, env)
  const known = (workDirectory: string) => {
    if (entries.length === 0 || !existsSync(workDirectory)) return undefined
    const real = realpathSync(workDirectory)
    return entries.find(({ path }) => path === real)?.runs_dir
  }
  return { known, ...(problem !== undefined && { problem }) }
}
