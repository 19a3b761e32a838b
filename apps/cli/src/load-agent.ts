import { type Agent, loadAgent } from '@delta/config-loader'
import { importRoots } from './import-roots.js'
import type { Terminal } from './terminal.js'

export interface AgentFlags {
  importRoot: string[]
  strict?: boolean
}

/** Loads an agent as these flags and this environment say, and hands on what it warns of. */
export async function loadAgentFor(
  directory: string,
  { flags, terminal, warn }: { flags: AgentFlags; terminal: Terminal; warn: (message: string) => void },
): Promise<Agent> {
  const { agent, warnings } = await loadAgent(directory, {
    environment: terminal.env,
    importRoots: importRoots(flags, terminal),
    strict: flags.strict ?? false,
  })
  for (const warning of warnings) warn(warning.message)
  return agent
}
