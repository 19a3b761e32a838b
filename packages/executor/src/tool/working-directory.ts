import { realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import type { Tool } from './define-tool.js'
import { settingsPath, type Variables } from './variables.js'

export type WorkingDirectory = { ok: true; path: string } | { ok: false; message: string }

interface Place {
  workDirectory: string
  environment: NodeJS.ProcessEnv
}

/** The variables a tool's settings may use, taken from where the tool runs. */
export function variablesOf({ workDirectory, environment }: Place): Variables {
  return { AGENT_HOME: environment.AGENT_HOME ?? workDirectory, CWD: workDirectory }
}

/**
 * Where a tool runs: the workspace, or its `cwd:`. A relative one must lie inside the workspace
 * also after symbolic links, which tools can make; an absolute one is the author's decision.
 */
export function findWorkingDirectory({ settings }: Tool, place: Place): WorkingDirectory {
  const { cwd } = settings
  if (cwd === undefined) return { ok: true, path: place.workDirectory }
  const path = settingsPath(cwd, variablesOf(place))
  try {
    const inside = relative(realpathSync(place.workDirectory), realpathSync(path))
    if (!isWrittenAbsolute(cwd) && (inside === '..' || inside.startsWith('../'))) {
      return {
        ok: false,
        message: `The tool's cwd "${cwd}" leads outside the workspace, to ${realpathSync(path)}.`,
      }
    }
    return { ok: true, path }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return { ok: false, message: `The tool's cwd ${path} cannot be entered (${code}). Create it first.` }
  }
}

function isWrittenAbsolute(cwd: string): boolean {
  return isAbsolute(cwd) || cwd.startsWith('${AGENT_HOME}')
}
