import { resolve } from 'node:path'
import { type Agent, formatProblem, type LoadOptions, loadAgent } from '@delta/config-loader'
import type { Terminal } from '../terminal/terminal.js'
import { cacheFor } from './load-cache.js'

export interface AgentFlags {
  importRoot: string[]
  strict?: boolean
}

/**
 * Loads an agent as these flags and this environment say, and hands on what it warns of. Problems and warnings name
 * files as `directory` does.
 */
export async function loadAgentFor(
  directory: string,
  { flags, terminal, warn }: { flags: AgentFlags; terminal: Terminal; warn: (message: string) => void },
): Promise<Agent> {
  const options = loadOptions(directory, { flags, terminal })
  const { agent, warnings } = await loadAgent(resolve(terminal.cwd, directory), options)
  for (const warning of warnings) warn(formatProblem(warning))
  return agent
}

/** What to tell the loader; `shownAs` is how messages call the directory or file. */
export function loadOptions(
  shownAs: string,
  { flags, terminal }: { flags: AgentFlags; terminal: Terminal },
): LoadOptions {
  return {
    environment: terminal.env,
    importRoots: flags.importRoot.map((root) => resolve(terminal.cwd, root)),
    strict: flags.strict ?? false,
    shownAs,
    cache: terminal.cache && cacheFor(resolve(terminal.cwd, shownAs), terminal.cache),
  }
}
