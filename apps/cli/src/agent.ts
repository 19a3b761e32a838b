import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  type Environment,
  type LoadedAgent,
  type LoadedTools,
  loadToolsFile,
  type WorkspaceEndpoint,
} from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import { quoteForPerson } from '@delta/executor'
import { type AgentFlags, type Finding, findCredentials, type OpenAgent } from '@delta/workspace'
import { loadOptions } from '@delta/workspace/internal'
import { askAtTerminal } from './ask.js'
import { StoppedError, type Terminal } from './terminal.js'

/** The tools at a path on the command line, and the directory that is `${AGENT_HOME}` for them. With `partial`, tools that do not load are left out. */
export async function loadTools(
  path: string,
  flags: AgentFlags,
  terminal: Terminal,
  { partial = false }: { partial?: boolean } = {},
): Promise<LoadedTools & { agentHome: string }> {
  const absolute = resolve(terminal.cwd, path)
  const options = loadOptions(path, { flags, surroundings: terminal })
  const loaded = await loadToolsFile(absolute, { ...options, partial })
  return { ...loaded, agentHome: statSync(absolute).isDirectory() ? absolute : dirname(absolute) }
}

/** The credentials that a run of this agent finds in this workspace. A person at the terminal is asked about an address of others. */
export async function findEnvironment(
  { agent, trustWorkspaceEnv, setByTools }: OpenAgent,
  {
    workDirectory,
    terminal,
    warn,
    signal,
  }: Pick<Finding, 'workDirectory'> & {
    terminal: Terminal
    warn: (message: string) => void
    signal: AbortSignal
  },
): Promise<Environment> {
  const isSeen = terminal.stdin.isTTY && terminal.stderr.isTTY
  const found = await findCredentials(agent, {
    workDirectory,
    surroundings: terminal,
    trustWorkspaceEnv,
    setByTools,
    ask: isSeen ? (endpoint) => saysYes(endpoint, terminal, signal) : undefined,
  })
  for (const warning of found.warnings) warn(formatProblem(warning))
  return found
}

async function saysYes(
  endpoint: WorkspaceEndpoint,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<boolean> {
  const question = { requestId: '', prompt: promptFor(endpoint), sensitive: false } as const
  const answer = await askAtTerminal({ ...question, inputType: 'confirmation' }, terminal, signal)
  if (signal.aborted) throw new StoppedError(signal, undefined, 'Nothing was run.')
  return answer !== undefined && /^\s*y(es)?\s*$/i.test(answer)
}

function promptFor({ of, file, line, name, shownUrl }: WorkspaceEndpoint): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${name} names the model's endpoint ${shownUrl}
The key and the whole conversation go there. Anyone who can write to the ${of} can set it.
Use it? A yes is remembered for this file with this content.`
}

/** What the author of an agent should know. */
export function warnOf({ warnings }: Pick<OpenAgent, 'warnings'>, warn: (message: string) => void): void {
  for (const warning of warnings) warn(formatProblem(warning))
}

/** As it would be typed. */
export function setLine({ snapshot }: LoadedAgent): string {
  return `Set for this run: ${quoteForPerson(snapshot.overrides.flatMap((text) => ['--set', text]))}`
}
