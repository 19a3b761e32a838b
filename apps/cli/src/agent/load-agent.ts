import { existsSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  type Agent,
  type LoadedTools,
  type LoadOptions,
  loadAgent,
  loadToolsFile,
} from '@delta/config-loader'
import { formatProblem } from '@delta/config-loader/internal'
import type { Allowed } from '@delta/engine'
import { quoteForPerson } from '@delta/executor/internal'
import type { RunSummary } from '@delta/journal/runs'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { agentHomeOf } from '../workspace/own-runs.js'

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
    env: terminal.env,
    importRoots: flags.importRoot.map((root) => resolve(terminal.cwd, root)),
    strict: flags.strict ?? false,
    shownAs,
  }
}

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

export interface ToolFlags {
  importRoot: string[]
}

/** The tools at a path on the command line, and the directory that is `${AGENT_HOME}` for them. With `partial`, tools that do not load are left out. */
export async function loadTools(
  path: string,
  flags: ToolFlags,
  terminal: Terminal,
  { partial = false }: { partial?: boolean } = {},
): Promise<LoadedTools & { agentHome: string }> {
  const absolute = resolve(terminal.cwd, path)
  const loaded = await loadToolsFile(absolute, { ...loadOptions(path, { flags, terminal }), partial })
  return { ...loaded, agentHome: statSync(absolute).isDirectory() ? absolute : dirname(absolute) }
}
