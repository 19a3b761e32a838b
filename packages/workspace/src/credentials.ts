import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import {
  type Environment,
  type LoadedAgent,
  loadEnvironment,
  type WorkspaceEndpoint,
} from '@delta/config-loader'
import { credentialsFor } from '@delta/engine/internal'
import { commandEnvironment } from '@delta/executor'
import { prepareFacts, readFact, writeFact } from './state.js'
import { isWithinRun, type Surroundings } from './surroundings.js'

/** For which workspace credentials are looked for, and who may be asked. */
export interface Finding {
  workDirectory: string
  surroundings: Surroundings
  /** `--trust-workspace-env`; a digest trusts the file with this content. */
  trustWorkspaceEnv?: boolean | string | undefined
  /** Overrides of the agent that a tool typed when the run began. */
  setByTools?: readonly string[] | undefined
  /** Asks a person about an address in the `.env` of the workspace or the project. Never called within a run. */
  ask?: ((endpoint: WorkspaceEndpoint) => Promise<boolean>) | undefined
}

/**
 * The key and the address of the model's API, as a run of this agent in this workspace finds them. Its `warnings` also name what
 * a `pass_env` lists in vain.
 *
 * @throws {ConfigError} An address is refused. {WorkspaceError} A yes cannot be remembered. What `ask` throws.
 */
export async function findCredentials(agent: LoadedAgent, finding: Finding): Promise<Environment> {
  const { workDirectory, surroundings, setByTools } = finding
  return loadEnvironment({
    workDirectory,
    agentHome: agent.home,
    env: surroundings.env,
    llm: agent.llm,
    ...(agent.llm.baseUrl !== undefined && { llmBaseUrl: agent.llm.baseUrl }),
    overrides: agent.snapshot.overrides,
    overridesOfTools: setByTools,
    trustWorkspaceEnv: (endpoint) => isTrusted(endpoint, finding),
  })
}

/** By the flag, by what the run recorded, or by a person's yes, now or before. */
async function isTrusted(endpoint: WorkspaceEndpoint, finding: Finding): Promise<boolean> {
  const { trustWorkspaceEnv, surroundings, ask } = finding
  if (trustWorkspaceEnv === true || trustWorkspaceEnv === endpoint.digest) return true
  const { env } = surroundings
  const path = join(realpathSync(dirname(endpoint.file)), basename(endpoint.file))
  const name = createHash('sha256').update(`${path}\n${endpoint.digest}`).digest('hex')
  if (readFact('env', name, env) !== undefined) return true
  if (ask === undefined || isWithinRun(surroundings)) return false
  prepareFacts('env', env)
  if (!(await ask(endpoint))) return false
  writeFact('env', name, { path }, env)
  return true
}

/** A warning for each name in a `pass_env` that has no value, so that the command does not find it. */
export function passedWithoutValue(
  { tools, hooks, manifest, llm }: LoadedAgent,
  { credentials, env }: { credentials: Environment; env: NodeJS.ProcessEnv },
): string[] {
  const generators = manifest.sources.flatMap((source) =>
    source.type === 'computed_file'
      ? [[`context source ${source.id ?? source.outputPath}`, source.generator.passEnv] as const]
      : [],
  )
  const lists: (readonly [string, readonly string[]])[] = [
    ...[...tools].map(([name, { settings }]) => [`tool "${name}"`, settings.passEnv] as const),
    ...Object.entries(hooks).map(([name, { passEnv }]) => [`hook ${name}`, passEnv] as const),
    ...generators,
    ['token_counter', manifest.tokenCounter?.passEnv ?? []],
  ]
  const all = credentialsFor(llm, { env, credentials })
  const lookUp = (name: string) => commandEnvironment(env, { credentials: all, passEnv: [name] })[name]
  return lists.flatMap(([command, names]) =>
    names
      .filter((name) => !lookUp(name))
      .map((name) => `pass_env of ${command}: ${name} has no value, so the command will not find it.`),
  )
}
