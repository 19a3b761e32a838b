import { resolve } from 'node:path'
import { type Agent, formatProblem, type LoadOptions, loadAgent } from '@delta/config-loader'
import type { Allowed } from '@delta/engine'
import type { RunSummary } from '@delta/journal'
import type { Terminal } from '../terminal/terminal.js'

export interface AgentFlags {
  importRoot: string[]
  strict?: boolean
}

/** What `run` and `continue` change in an agent. */
export interface SetFlags {
  set?: string[]
  model?: string
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
  {
    flags,
    terminal,
    warn,
    overrides = [],
  }: {
    flags: AgentFlags
    terminal: Terminal
    warn: (message: string) => void
    overrides?: readonly string[]
  },
): Promise<Agent> {
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
    environment: terminal.env,
    importRoots: flags.importRoot.map((root) => resolve(terminal.cwd, root)),
    strict: flags.strict ?? false,
    shownAs,
  }
}
