import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute, relative } from 'node:path'
import { type Place, settingsPath, variablesOf } from './environment.js'
import type { Tool } from './tool.js'

/**
 * Where a tool runs: the workspace, or its `cwd:`. A relative one must lie inside the workspace also after symbolic links, which
 * tools can make; an absolute one is the author's decision.
 */
export function findWorkingDirectory(
  { settings: { cwd } }: Tool,
  place: Place,
): { path: string } | { refusal: string } {
  if (cwd === undefined) return { path: place.cwd }
  const path = settingsPath(cwd, variablesOf(place))
  if (isAbsolute(cwd) || cwd.startsWith('${AGENT_HOME}') || !existsSync(path)) return { path }
  const real = realpathSync(path)
  if (isInside(real, realpathSync(place.cwd))) return { path }
  return { refusal: `The tool's cwd "${cwd}" leads outside the workspace, to ${real}.` }
}

/** Compares absolute paths; a directory is inside itself. */
export function isInside(path: string, directory: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}
