import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { type ConfigWarning, type LoadedAgent, type LoadOptions, loadAgent } from '@delta/config-loader'
import { SERVER_KEYS } from '@delta/config-loader/internal'
import type { Allowed } from '@delta/engine'
import { WorkspaceError } from './errors.js'
import { agentHomeOf, type ListedRun } from './own-runs.js'
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
  /** Each as `path=value`. */
  set?: readonly string[]
  model?: string
}

/** A loaded agent, and what its author should know. */
export interface OpenAgent {
  agent: LoadedAgent
  warnings: readonly ConfigWarning[]
  /** What the person allows now, as the engine records it. */
  allowed: Allowed
  /** For `findCredentials`: the flag, or else the digest of the file that the run began with. */
  trustWorkspaceEnv: boolean | string
  /** For `findCredentials`: overrides that a tool typed when the run began, and nobody now. */
  setByTools: readonly string[]
}

interface Asked {
  flags: AgentFlags & SetFlags & { trustWorkspaceEnv?: boolean }
  surroundings: Surroundings
  /** The run that goes on: what was set for it and allowed at its first start comes before what the flags say. */
  run?: ListedRun | undefined
}

/**
 * Loads an agent as the flags, the environment and its run say. Problems and warnings name files relative to the directory as it
 * was typed.
 *
 * @param directory - Undefined: where the run was started with it.
 * @throws {WorkspaceError} It is not there. {ConfigError} It does not load.
 */
export async function openAgent(directory: string | undefined, asked: Asked): Promise<OpenAgent> {
  const { flags, surroundings, run } = asked
  const { import_roots = [], workspace_env_digest } = run?.allowed ?? {}
  const home = directory ?? (run ? await presentHome(run, surroundings.env) : '.')
  const importRoot = [...flags.importRoot, ...import_roots]
  const options = loadOptions(home, { flags: { ...flags, importRoot }, surroundings })
  const overrides = overridesOf(run, flags)
  return {
    ...(await loadAgent(resolve(surroundings.cwd, home), { ...options, overrides })),
    allowed: { importRoots: flags.importRoot.map((root) => resolve(surroundings.cwd, root)) },
    trustWorkspaceEnv: flags.trustWorkspaceEnv || (workspace_env_digest ?? false),
    setByTools: (run?.setByTools ?? []).filter((text) => !overridesIn(flags).includes(text)),
  }
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

/** What was set for a run, and then what is set now. Nothing of its server if another provider is set: that one's key would go there. */
function overridesOf(run: ListedRun | undefined, flags: SetFlags): string[] {
  const before = run?.overrides ?? []
  const typed = overridesIn(flags)
  const isOther = typed.some((text) => text.startsWith('llm.provider=') && !before.includes(text))
  const kept = before.filter((text) => {
    const [part, key = ''] = text.split(/[.=]/, 2)
    return !isOther || part !== 'llm' || !SERVER_KEYS.includes(key)
  })
  return [...kept, ...typed]
}

/** `--model` is a name, and `llm.model` is YAML: there a name such as `@cf/llama` or `4` has quotes. */
function overridesIn({ set = [], model }: SetFlags): readonly string[] {
  if (model === undefined) return set
  const isPlain = /^[A-Za-z][\w./-]*(?::[\w./-]+)*$/.test(model)
  return [...set, `llm.model=${isPlain ? model : JSON.stringify(model)}`]
}

/** The agent's directory, which must still exist where it was. */
async function presentHome(run: ListedRun, env: NodeJS.ProcessEnv): Promise<string> {
  const home = await agentHomeOf(run, env)
  if (existsSync(home)) return home
  throw new WorkspaceError(
    `The agent of run ${run.runId} was in ${home}, and is not there now.\nPut it back, or say where it is now with --agent <directory>.`,
  )
}
