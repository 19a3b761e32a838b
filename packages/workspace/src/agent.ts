import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ConfigWarning, type LoadedAgent, type LoadOptions, loadAgent } from '@delta/config-loader'
import { SERVER_KEYS } from '@delta/config-loader/internal'
import type { Allowed, RunAgentOptions } from '@delta/engine'
import type { RunSummary } from '@delta/journal/runs'
import { WorkspaceError } from './errors.js'
import { agentHomeOf, type Said } from './own-runs.js'
import type { Surroundings } from './surroundings.js'

/** How an agent is loaded. */
export interface AgentFlags {
  /** Directories that the agent may import files from. */
  importRoot: readonly string[]
  /** True makes warnings errors. */
  strict?: boolean
}

/** What `run` and `continue` change in an agent. */
export interface SetFlags {
  set?: readonly string[]
  model?: string
}

/** A loaded agent, and what its author should know. */
export interface OpenAgent {
  agent: LoadedAgent
  warnings: readonly ConfigWarning[]
}

/** `--model` is a name, and `llm.model` is YAML: there a name such as `@cf/llama` or `4` has quotes. */
export function overridesIn({ set = [], model }: SetFlags): readonly string[] {
  if (model === undefined) return set
  const isPlain = /^[A-Za-z][\w./-]*(?::[\w./-]+)*$/.test(model)
  return [...set, `llm.model=${isPlain ? model : JSON.stringify(model)}`]
}

/** The loader's options. Messages name the directory or file as `shownAs`. */
export function loadOptions(
  shownAs: string,
  { flags, surroundings }: { flags: AgentFlags; surroundings: Surroundings },
): LoadOptions {
  return {
    env: surroundings.env,
    importRoots: flags.importRoot.map((root) => resolve(surroundings.cwd, root)),
    strict: flags.strict ?? false,
    shownAs,
  }
}

/**
 * Loads an agent as the flags and the environment say. Problems and warnings name files relative to `directory` as it was typed.
 *
 * @throws {ConfigError} It does not load.
 */
export async function openAgent(
  directory: string,
  asked: { flags: AgentFlags; surroundings: Surroundings; overrides?: readonly string[] },
): Promise<OpenAgent> {
  const { overrides = [], surroundings } = asked
  const path = resolve(surroundings.cwd, directory)
  return loadAgent(path, { ...loadOptions(directory, asked), overrides })
}

/**
 * The agent of a run as it is now: from `--agent` or from where the run was started with it, with what was set for the run,
 * and then with what these flags set.
 *
 * @throws {WorkspaceError} It is not there. {ConfigError} It does not load.
 */
export async function openAgentOf(
  run: RunSummary,
  asked: { flags: AgentFlags & SetFlags & { agent?: string | undefined }; surroundings: Surroundings },
): Promise<OpenAgent> {
  const { flags, surroundings } = asked
  const directory = flags.agent ?? (await presentHome(run, surroundings.env))
  return openAgent(directory, { ...asked, overrides: overridesOf(run, flags) })
}

/** What was set for a run, and then what is set now. Nothing of its server if another provider is set: that one's key would go there. */
export function overridesOf({ overrides }: Pick<RunSummary, 'overrides'>, flags: SetFlags): string[] {
  const typed = overridesIn(flags)
  const isOther = typed.some((text) => text.startsWith('llm.provider=') && !overrides.includes(text))
  const kept = overrides.filter((text) => {
    const [part, key = ''] = text.split(/[.=]/, 2)
    return !isOther || part !== 'llm' || !SERVER_KEYS.includes(key)
  })
  return [...kept, ...typed]
}

/** The agent's directory, which must still exist where it was. */
async function presentHome(run: RunSummary, env: NodeJS.ProcessEnv): Promise<string> {
  const home = await agentHomeOf(run, env)
  if (existsSync(home)) return home
  throw new WorkspaceError(
    `The agent of run ${run.runId} was in ${home}, and is not there now.\nPut it back, or say where it is now with --agent <directory>.`,
  )
}

/** The flags of a command that continues a run, with what was allowed at the run's first start. */
export function withAllowed<Flags extends AgentFlags & { trustWorkspaceEnv?: boolean | string }>(
  flags: Flags,
  allowed: RunSummary['allowed'],
): Flags {
  const { import_roots = [], workspace_env_digest } = allowed ?? {}
  const trustWorkspaceEnv = flags.trustWorkspaceEnv || (workspace_env_digest ?? false)
  return { ...flags, importRoot: [...flags.importRoot, ...import_roots], trustWorkspaceEnv }
}

/** What the person who starts a run allows; a later `continue` applies it again. */
export function allowedBy({ importRoot }: AgentFlags, { cwd }: Surroundings): Allowed {
  return { importRoots: importRoot.map((root) => resolve(cwd, root)) }
}

/** What a run of this agent goes on with. */
export function saidOf(
  agent: LoadedAgent,
  { allowed, sources }: Pick<RunAgentOptions, 'allowed' | 'sources'>,
): Said {
  const { importRoots: roots = [] } = allowed ?? {}
  const digest = sources?.workspaceEnvDigest
  return {
    agent_home: agent.home,
    set: [...agent.snapshot.overrides],
    allowed: {
      ...(roots.length > 0 && { import_roots: [...roots] }),
      ...(digest !== undefined && { workspace_env_digest: digest }),
    },
  }
}
