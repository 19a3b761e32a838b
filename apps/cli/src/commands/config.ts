import { resolve } from 'node:path'
import { ConfigError, type Environment, type LoadedAgent } from '@delta/config-loader'
import { listSettings, type Setting } from '@delta/config-loader/internal'
import { parse } from 'yaml'
import {
  type AgentFlags,
  findEnvironment,
  loadAgentFor,
  loadOptions,
  loadTools,
  overridesIn,
  type SetFlags,
} from '../agent.js'
import { typedWorkDirectory } from '../place.js'
import { EXIT, stopSignal, type Terminal } from '../terminal.js'
import { print, printJson, say, table } from '../text.js'
import { asYaml, findingsOf } from './tool.js'

interface ConfigFlags extends AgentFlags, SetFlags {
  agent: string
  workDir: string
  showOrigin?: boolean
  trustWorkspaceEnv?: boolean
  json?: boolean
}

/**
 * `delta config`: the agent as the engine understands it; with `--show-origin` each value with the file and line it
 * comes from. Keys are never shown, only where they are.
 */
export async function execute(flags: ConfigFlags, terminal: Terminal): Promise<number> {
  const warn = (message: string): void => say(terminal, message)
  const workDirectory = typedWorkDirectory(flags, terminal)
  const overrides = overridesIn(flags)
  const agent = await loadAgentFor(flags.agent, { flags, terminal, warn, overrides })
  if (flags.strict && agent.tools.size > 0) await refuseForeignCode(flags, terminal)
  using stop = stopSignal(terminal)
  const environment = await findEnvironment(agent, {
    workDirectory,
    flags,
    terminal,
    warn,
    signal: stop.signal,
  })
  if (flags.showOrigin) await printOrigins(flags, environment, terminal)
  else if (flags.json) printJson(terminal, describe(agent, environment))
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

async function printOrigins(flags: ConfigFlags, environment: Environment, terminal: Terminal): Promise<void> {
  const options = { ...loadOptions(flags.agent, { flags, terminal }), overrides: overridesIn(flags) }
  const settings = withEndpoint(await listSettings(resolve(terminal.cwd, flags.agent), options), environment)
  if (flags.json) printJson(terminal, settings)
  else print(terminal, table([['ORIGIN', 'SETTING'], ...settings.flatMap(rowsOf)]))
}

/** Where a value comes from, and the value as JSON; below it, what it replaces. */
function rowsOf({ path, value, origin, replaces = [] }: Setting): string[][] {
  return [
    [origin, `${path}: ${JSON.stringify(value)}`],
    ...replaces.map((replaced) => [replaced, `${path}: replaced by ${origin}`]),
  ]
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

/** The name of the agent's own address, in the list of settings and in the `origins` of the environment. */
const OWN_ADDRESS = 'llm.base_url'

/**
 * The settings of an agent, together with the key and the address that its model gets. Only the address that takes effect
 * is listed; the key itself is masked.
 */
export function withEndpoint(settings: readonly Setting[], environment: Environment): Setting[] {
  const found = environment.origins.filter(({ name }) => name !== OWN_ADDRESS)
  const address = found.find(({ name }) => isAddress(name))
  const overridden = address && settings.find(({ path }) => path === OWN_ADDRESS)
  const endpoint = found.map(({ name, from }) => ({
    path: `environment.${name}`,
    value: isAddress(name) ? withoutSecrets(environment.baseUrl ?? '') : '***',
    origin: from,
    ...(overridden && overridden.origin !== 'default' && isAddress(name)
      ? { replaces: [overridden.origin] }
      : {}),
  }))
  return [...settings.filter((setting) => setting !== overridden), ...endpoint]
}

function isAddress(name: string): boolean {
  return name.includes('URL')
}

/** An address may carry a password or a token. */
function withoutSecrets(address: string): string {
  if (!URL.canParse(address)) return '***'
  const { origin, pathname } = new URL(address)
  return `${origin}${pathname}`
}
