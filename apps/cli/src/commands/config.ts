import { resolve } from 'node:path'
import { type Agent, loadEnvironment } from '@delta/config-loader'
import { stringify } from 'yaml'
import { loadAgentFor } from '../load-agent.js'
import { print } from '../present/print.js'
import { printable } from '../present/printable.js'
import { EXIT, type Terminal } from '../terminal.js'

interface ConfigFlags {
  agent: string
  workDir: string
  json?: boolean
  importRoot: string[]
  strict?: boolean
}

/** `delta config`: the agent as the engine understands it. Names and files of settings are shown, never their values. */
export async function execute(flags: ConfigFlags, terminal: Terminal): Promise<number> {
  const warn = (message: string): void => void terminal.stderr.write(`${printable(message)}\n`)
  const agent = await loadAgentFor(resolve(terminal.cwd, flags.agent), { flags, terminal, warn })
  const environment = await loadEnvironment({
    workDirectory: resolve(terminal.cwd, flags.workDir),
    agentHome: agent.home,
    environment: terminal.env,
  })
  for (const warning of environment.warnings) warn(warning.message)
  const shown = describe(agent, environment.origins)
  print(terminal, flags.json ? `${JSON.stringify(shown, null, 2)}\n` : stringify(shown, { lineWidth: 0 }))
  return EXIT.completed
}

function describe(agent: Agent, origins: readonly { name: string; from: string }[]): object {
  return {
    agent_home: agent.home,
    settings: origins.map(({ name, from }) => ({ name, from })),
    overrides: agent.overrides,
    hooks: Object.keys(agent.hooks),
    agent: agent.snapshot.config,
    context: agent.manifest,
  }
}
