import { existsSync } from 'node:fs'
import type { Agent } from '@delta/config-loader'
import { quoteForPerson } from '@delta/executor'
import type { RunSummary } from '@delta/journal'
import { type AgentFlags, loadAgentFor, overridesIn, type SetFlags } from '../agent/load-agent.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { agentHomeOf } from './own-runs.js'

interface Loading {
  flags: AgentFlags & SetFlags & { agent?: string | undefined }
  terminal: Terminal
  warn: (message: string) => void
}

/**
 * The agent of a run as it is now: from `--agent` or from where the run was started with it, with what was set for the run,
 * and then with what these flags set. One line says what was set.
 */
export async function agentOfRun(run: RunSummary, { flags, terminal, warn }: Loading): Promise<Agent> {
  const directory = flags.agent ?? (await presentAgent(run, terminal.env))
  const overrides = [...run.overrides, ...overridesIn(flags)]
  const agent = await loadAgentFor(directory, { flags, terminal, warn, overrides })
  if (overrides.length > 0) warn(setLine(agent))
  return agent
}

/** As it would be typed. */
export function setLine({ snapshot }: Agent): string {
  return `Set for this run: ${quoteForPerson(snapshot.overrides.flatMap((text) => ['--set', text]))}`
}

/** The agent's directory, which must still exist where it was, or where `--agent` once said it was. */
async function presentAgent(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  const home = await agentHomeOf(run, env)
  if (existsSync(home)) return home
  throw new UsageError(
    `The agent of run ${run.runId} was in ${home}, and is not there now.\nPut it back, or say where it is now with --agent <directory>.`,
  )
}
