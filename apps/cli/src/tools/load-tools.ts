import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { type LoadedTools, loadToolsFile } from '@delta/config-loader'
import { loadOptions } from '../agent/load-agent.js'
import type { Terminal } from '../terminal/terminal.js'

export interface ToolFlags {
  importRoot: string[]
}

/** The tools at a path on the command line, and the directory that is `${AGENT_HOME}` for them. With `partial`, tools that do not load are left out. */
export async function loadTools(
  path: string,
  flags: ToolFlags,
  terminal: Terminal,
  { partial = false }: { partial?: boolean } = {},
): Promise<LoadedTools & { agentHome: string }> {
  const absolute = resolve(terminal.cwd, path)
  const loaded = await loadToolsFile(absolute, { ...loadOptions(path, { flags, terminal }), partial })
  return { ...loaded, agentHome: statSync(absolute).isDirectory() ? absolute : dirname(absolute) }
}
