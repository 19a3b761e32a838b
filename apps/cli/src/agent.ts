import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type Environment,
  type LoadedAgent,
  type LoadedTools,
  type LoadOptions,
  loadAgent,
  loadEnvironment,
  loadToolsFile,
  type WorkspaceEndpoint,
} from '@delta/config-loader'
import { formatProblem, SERVER_KEYS } from '@delta/config-loader/internal'
import type { Allowed, Credentials } from '@delta/engine'
import { credentialVariables } from '@delta/engine/internal'
import { quoteForPerson } from '@delta/executor'
import type { RunSummary } from '@delta/journal/runs'
import { askAtTerminal } from './ask.js'
import { agentHomeOf } from './own-runs.js'
import { openState, readState, type StateFile } from './state-directory.js'
import { isWithinRun, StoppedError, type Terminal } from './terminal.js'
import { say } from './text.js'
import { UsageError } from './usage.js'

export interface AgentFlags {
  importRoot: string[]
  strict?: boolean
}

/** What `run` and `continue` change in an agent. */
export interface SetFlags {
  set?: string[]
  model?: string
}

interface Loading {
  flags: AgentFlags & SetFlags & { agent?: string | undefined }
  terminal: Terminal
  warn: (message: string) => void
}

/** `--model` is a name, and `llm.model` is YAML: there a name such as `@cf/llama` or `4` has quotes. */
export function overridesIn({ set = [], model }: SetFlags): string[] {
  if (model === undefined) return set
  return [
    ...set,
    `llm.model=${/^[A-Za-z][\w./-]*(?::[\w./-]+)*$/.test(model) ? model : JSON.stringify(model)}`,
  ]
}

/**
 * Loads an agent as the flags and the environment say, and passes its warnings on. Problems and warnings name files relative
 * to `directory` as it was typed.
 */
export async function loadAgentFor(
  directory: string,
  { flags, terminal, warn, overrides = [] }: Loading & { overrides?: readonly string[] },
): Promise<LoadedAgent> {
  const options = loadOptions(directory, { flags, terminal })
  const { agent, warnings } = await loadAgent(resolve(terminal.cwd, directory), { ...options, overrides })
  for (const warning of warnings) warn(formatProblem(warning))
  return agent
}

/** The flags of a command that continues a run, with what was allowed at the run's first start. */
export function withAllowed<Flags extends AgentFlags & { trustWorkspaceEnv?: boolean | string }>(
  flags: Flags,
  allowed: RunSummary['allowed'],
): Flags {
  const { import_roots = [], trust_workspace_env, workspace_env_digest } = allowed ?? {}
  const trusts = flags.trustWorkspaceEnv || trust_workspace_env || (workspace_env_digest ?? false)
  return { ...flags, importRoot: [...flags.importRoot, ...import_roots], trustWorkspaceEnv: trusts }
}

/** What the person who starts a run allows; a later `continue` applies it again. */
export function allowedBy({ importRoot }: AgentFlags, { cwd }: Terminal): Allowed {
  return { importRoots: importRoot.map((root) => resolve(cwd, root)) }
}

/** The loader's options. Messages name the directory or file as `shownAs`. */
export function loadOptions(
  shownAs: string,
  { flags, terminal }: { flags: AgentFlags; terminal: Terminal },
): LoadOptions {
  return {
    env: terminal.env,
    importRoots: flags.importRoot.map((root) => resolve(terminal.cwd, root)),
    strict: flags.strict ?? false,
    shownAs,
  }
}

/**
 * The agent of a run as it is now: from `--agent` or from where the run was started with it, with what was set for the run,
 * and then with what these flags set. One line says what was set.
 */
export async function agentOfRun(run: RunSummary, { flags, terminal, warn }: Loading): Promise<LoadedAgent> {
  const directory = flags.agent ?? (await presentAgent(run, terminal.env))
  const overrides = [...setBefore(run, overridesIn(flags)), ...overridesIn(flags)]
  const agent = await loadAgentFor(directory, { flags, terminal, warn, overrides })
  if (overrides.length > 0) warn(setLine(agent))
  return agent
}

/** What was set for the run. Nothing of its server if another provider is set now: that provider's key would go there. */
export function setBefore(
  { overrides }: Pick<RunSummary, 'overrides'>,
  set: readonly string[],
): readonly string[] {
  const isOther = set.some((text) => text.startsWith('llm.provider=') && !overrides.includes(text))
  if (!isOther) return overrides
  return overrides.filter((text) => {
    const [part, key = ''] = text.split(/[.=]/, 2)
    return part !== 'llm' || !SERVER_KEYS.includes(key)
  })
}

/** As it would be typed. */
export function setLine({ snapshot }: LoadedAgent): string {
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

/** The tools at a path on the command line, and the directory that is `${AGENT_HOME}` for them. With `partial`, tools that do not load are left out. */
export async function loadTools(
  path: string,
  flags: AgentFlags,
  terminal: Terminal,
  { partial = false }: { partial?: boolean } = {},
): Promise<LoadedTools & { agentHome: string }> {
  const absolute = resolve(terminal.cwd, path)
  const loaded = await loadToolsFile(absolute, { ...loadOptions(path, { flags, terminal }), partial })
  return { ...loaded, agentHome: statSync(absolute).isDirectory() ? absolute : dirname(absolute) }
}

interface Finding {
  workDirectory: string
  /** `trustWorkspaceEnv` as a digest trusts the file with this content. */
  flags: { trustWorkspaceEnv?: boolean | string }
  terminal: Terminal
  warn: (message: string) => void
  signal: AbortSignal
}

/** The key and the address of the model's API, as a run of this agent in this workspace would find them. */
export async function findEnvironment(agent: LoadedAgent, finding: Finding): Promise<Environment> {
  const { workDirectory, terminal, warn } = finding
  const found = await loadEnvironment({
    workDirectory,
    agentHome: agent.home,
    env: terminal.env,
    llm: agent.llm,
    ...(agent.llm.baseUrl === undefined ? {} : { llmBaseUrl: agent.llm.baseUrl }),
    overrides: agent.snapshot.overrides,
    trustWorkspaceEnv: (endpoint) => isTrusted(endpoint, finding),
  })
  for (const warning of found.warnings) warn(formatProblem(warning))
  return found
}

/** By the flag, by what the run recorded, or by a person's yes, now or before. */
async function isTrusted(
  endpoint: WorkspaceEndpoint,
  { flags, terminal, signal }: Finding,
): Promise<boolean> {
  const { trustWorkspaceEnv } = flags
  if (trustWorkspaceEnv === true || trustWorkspaceEnv === endpoint.digest) return true
  const path = join(realpathSync(dirname(endpoint.file)), basename(endpoint.file))
  const { entries, problem } = readState(ENVIRONMENTS, terminal.env)
  if (problem !== undefined) say(terminal, problem)
  if (entries.some((entry) => entry.path === path && entry.digest === endpoint.digest)) return true
  if (!terminal.stdin.isTTY || !terminal.stderr.isTTY || isWithinRun(terminal)) return false

  const state = openState(ENVIRONMENTS, terminal.env)
  const question = { requestId: '', prompt: promptFor(endpoint), sensitive: false } as const
  const answer = await askAtTerminal({ ...question, inputType: 'confirmation' }, terminal, signal)
  if (signal.aborted) throw new StoppedError(signal, undefined, 'Nothing was run.')
  if (answer === undefined || !/^\s*y(es)?\s*$/i.test(answer)) return false
  state.add({ path, digest: endpoint.digest })
  return true
}

function promptFor({ of, file, line, name, shownUrl }: WorkspaceEndpoint): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${name} names the model's endpoint ${shownUrl}
The key and the whole conversation go there. Anyone who can write to the ${of} can set it.
Use it? A yes is remembered for this file with this content.`
}

/** The `.env` files of workspaces and projects whose base URL a person said yes to. */
const ENVIRONMENTS: StateFile<{ path: string; digest: string }> = {
  name: 'environments.jsonl',
  holds: 'which .env files of workspaces and projects you trust',
  fields: { path: 'string', digest: 'string' },
  subject: 'path',
}

/** A warning for each name in a `pass_env` that has no value, so that the command does not find it. */
export function passedWithoutValue(
  { tools, hooks, manifest, llm }: LoadedAgent,
  { environment, ...credentials }: Credentials & { environment: NodeJS.ProcessEnv },
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
  const values: NodeJS.ProcessEnv = {
    ...environment,
    ...credentialVariables(llm, { env: environment, credentials }),
  }
  return lists.flatMap(([command, names]) =>
    names
      .filter((name) => !values[name])
      .map((name) => `pass_env of ${command}: ${name} has no value, so the command will not find it.`),
  )
}
