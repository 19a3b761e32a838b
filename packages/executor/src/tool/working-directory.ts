import { realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { type Place, settingsPath, variablesOf } from '../environment.js'
import type { Tool } from './define-tool.js'

export type WorkingDirectory = { ok: true; path: string } | { ok: false; message: string }

/**
 * Where a tool runs: the workspace, or its `cwd:`. A relative one must lie inside the workspace
 * also after symbolic links, which tools can make; an absolute one is the author's decision.
 */
export function findWorkingDirectory({ settings }: Tool, place: Place): WorkingDirectory {
  const { cwd } = settings
  if (cwd === undefined) return { ok: true, path: place.workDirectory }
  const path = settingsPath(cwd, variablesOf(place))
  try {
    if (!isWrittenAbsolute(cwd) && !isInside(realpathSync(path), realpathSync(place.workDirectory))) {
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

/** Compares absolute paths; a directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}

function isWrittenAbsolute(cwd: string): boolean {
  return isAbsolute(cwd) || cwd.startsWith('${AGENT_HOME}')
}
