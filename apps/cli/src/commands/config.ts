import { ConfigError, type Environment, type LoadedAgent } from '@delta/config-loader'
import { type AgentFlags, openAgent, type SetFlags } from '@delta/workspace'
import { typedWorkDirectory } from '@delta/workspace/internal'
import { parse } from 'yaml'
import { findEnvironment, loadTools, warnOf } from '../agent.js'
import { EXIT, stopSignal, type Terminal } from '../terminal.js'
import { print, printJson, say } from '../text.js'
import { asYaml, findingsOf } from './tool.js'

interface ConfigFlags extends AgentFlags, SetFlags {
  agent: string
  workDir: string
  trustWorkspaceEnv?: boolean
  json?: boolean
}

/** `delta config`: the agent as the engine understands it. Keys are never shown, only the file and the variable of each. */
export async function execute(flags: ConfigFlags, terminal: Terminal): Promise<number> {
  const warn = (message: string): void => say(terminal, message)
  const workDirectory = typedWorkDirectory(flags, terminal)
  const opened = await openAgent(flags.agent, { flags, surroundings: terminal })
  const { agent } = opened
  warnOf(opened, warn)
  if (flags.strict && agent.tools.size > 0) await refuseForeignCode(flags, terminal)
  using stop = stopSignal(terminal)
  const { signal } = stop
  const environment = await findEnvironment(opened, { workDirectory, terminal, warn, signal })
  if (flags.json) printJson(terminal, describe(agent, environment))
  else print(terminal, asYaml(describe(agent, environment)))
  return EXIT.completed
}

/**
 * Values that become code of another language, which are findings of `delta tool lint`.
 *
 * @throws {ConfigError} for all of them.
 */
async function refuseForeignCode(flags: ConfigFlags, terminal: Terminal): Promise<void> {
  const loaded = await loadTools(flags.agent, flags, terminal)
  const found = findingsOf(loaded, flags.agent, terminal).filter(({ rule }) => rule === 'value-in-program')
  if (found.length === 0) return
  const problems = found.map(({ defined_at: file = flags.agent, message }) => ({ file, message }))
  throw new ConfigError('ERR_CONFIG_INVALID', found.map(({ message }) => message).join('\n\n'), { problems })
}

function describe(agent: LoadedAgent, { origins }: Environment): object {
  return {
    agent_home: agent.home,
    settings: origins.map(({ name, from }) => ({ name, from })),
    overrides: agent.overrides,
    hooks: Object.keys(agent.hooks),
    agent: agent.snapshot.config,
    context: parse(agent.snapshot.files['context.yaml'] ?? '', { merge: true }), // as written, not in the engine's own names
  }
}
