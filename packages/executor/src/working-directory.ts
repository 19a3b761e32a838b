import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { isInside } from '@delta/durable/internal'
import { type Place, settingsPath, toolVariables, variablesOf } from './environment.js'
import type { Tool } from './tool.js'

/**
 * Where a tool runs: the workspace, or its `cwd:`. A relative one must lie inside the workspace also after symbolic links, which
 * tools can make; an absolute one is the author's decision.
 */
export function findWorkingDirectory(tool: Tool, place: Place): { path: string } | { refusal: string } {
  const { cwd } = tool.settings
  if (cwd === undefined) return { path: place.cwd }
  const path = settingsPath(cwd, toolVariables(tool, variablesOf(place)))
  if (isAbsolute(cwd) || /^\$\{(AGENT|TOOL)_HOME\}/.test(cwd) || !existsSync(path)) return { path }
  const real = realpathSync(path)
  if (isInside(real, realpathSync(place.cwd))) return { path }
  return { refusal: `The tool's cwd "${cwd}" leads outside the workspace, to ${real}.` }
}
