import { basename } from 'node:path'
import type { ContextManifest } from '@delta/context'
import type { Policy, Tool } from '@delta/executor'
import type { ChatModel, ScriptTurn } from '@delta/model'
import type { LlmSettings, PriceRow } from '@delta/model/internal'
import { CONTEXT_FILE, checkSources, type LoadedContext, readContext } from './context.js'
import { openDirectory, type Workplace } from './files.js'
import { liesInParentRun, refuseCredentials, runsAbove } from './guards.js'
import { HOOKS_FILE, type Hooks, loadHooks } from './hooks.js'
import { type CollectedTools, collectTools, type Override } from './imports.js'
import { type Limits, limitsOf } from './limits.js'
import {
  checkPolicyTools,
  type Prompt,
  readLlm,
  readMainFile,
  readPolicy,
  readPrompt,
  readScript,
  USUAL_PROMPT,
} from './main-file.js'
import { warnOfOwnScripts } from './own-scripts.js'
import {
  ConfigError,
  type ConfigWarning,
  collectFindings,
  type Findings,
  formatReport,
  inReadingOrder,
  maskSecrets,
} from './problems.js'
import { inside } from './report.js'
import { readSets, setsBelow } from './set.js'
import { type SnapshotSettings, snapshotsOf } from './snapshots.js'
import { recordedFormOf, setTools, type ToolSet, toolsAlone, withoutCredentials } from './tools.js'
import { writtenVersion, type YamlFile } from './yaml.js'

/** The values of keys that `agent.yaml` leaves out. */
export const AGENT_DEFAULTS = {
  /** Iterations after each user message before the run fails. */
  maxIterations: 30,
  /** How many tool calls of one response may run side by side. */
  toolConcurrency: 1,
  /** How many tool calls of one response run at all. */
  maxToolCalls: 128,
  /** Whether a response that is empty, or lost a tool call, completes the run. */
  acceptEmpty: false,
} as const

/** One agent, validated: everything a run needs to know of its files. */
export interface Agent {
  /** The directory of its files: absolute, symbolic links resolved. Absent: it was defined in a program, without one. */
  home?: string | undefined
  /** `name` of `agent.yaml`: for people, and in journals. */
  name: string
  /** The author's own, kept as a record. */
  version?: string
  /** For people. */
  description?: string
  llm: LlmSettings
  /** The model itself, if the agent was defined with one: `llm` then says nothing of it. */
  model?: ChatModel
  /** The turns of a scripted model, if `llm.provider` is `script`. */
  script?: ScriptTurn[]
  /** Iterations after each user message before the run fails. Default 30. */
  maxIterations?: number
  /** How many tool calls of one response may run side by side. */
  toolConcurrency: number
  /** How many tool calls of one response run at all. Default 128. */
  maxToolCalls?: number
  /** Whether a response that is empty, or lost a tool call, completes the run. */
  acceptEmpty: boolean
  /** When a run keeps the files of its workspace. Absent: never. */
  snapshots?: SnapshotSettings
  /** What a run may spend. Absent: without limit. */
  limits?: Limits
  /** Prices of models, before the shipped ones. */
  prices?: readonly PriceRow[]
  /** Absent: every effect of the author's own tools is allowed. */
  policy?: Policy
  /** By name; imports first, then the agent's own. */
  tools: ReadonlyMap<string, Tool>
  /** What `context.yaml` says. */
  manifest: ContextManifest
  /** What `hooks.yaml` says; empty without one. */
  hooks: Hooks
  snapshot: Snapshot
  /** Tools of the same name in several files, and which one counts. */
  overrides: Override[]
  /** The files it imports, and directories that decide which they are: absolute. A sandboxed tool cannot write to them. */
  imported?: readonly string[]
}

/** An agent of a directory. */
export interface LoadedAgent extends Agent {
  home: string
}

/** What a run keeps of the agent it ran: a record, never executed. */
export interface Snapshot {
  /** The files of `configuration/<seq>/`, by name: agent.yaml resolved, the others as they are. */
  files: Record<string, string>
  /** The resolved agent.yaml as a value, for `ENGINE_START`. */
  config: Record<string, unknown>
  /** True if there are no other files: the agent was defined in a program. */
  isDefined?: boolean
  /** True if agent.yaml imports files. */
  hasImports: boolean
  /** What the option `overrides` set, of each path the last: loading the same files with them gives the same agent. */
  overrides: string[]
}

/** What loading depends on besides the files. */
export interface LoadOptions {
  /** The environment of the person who runs the agent. Only names that begin with `DELTA_` count. Default: `process.env`. */
  env?: NodeJS.ProcessEnv | undefined
  /** Directories, besides the agent's own, from which files may be imported. */
  importRoots?: readonly string[] | undefined
  /** What messages call the path, for example as a person typed it. Default: the path as given. */
  shownAs?: string | undefined
  /**
   * Values that replace those of the files, each as `path=value`: `llm.model=gpt-4o`, `tools.bash.timeout_ms=500`,
   * `context.sources.memory.max_tokens=`. The last one of a path wins; unknown keys in them are errors.
   */
  overrides?: readonly string[] | undefined
  /** Unknown keys are errors instead of warnings. */
  strict?: boolean | undefined
}

/**
 * Loads an agent: `agent.yaml` and what it imports, `hooks.yaml`, `context.yaml`, and the prompt.
 *
 * Depends only on the files and on what is passed in; prints nothing and runs nothing. Reads files synchronously: they are few
 * and small, and nothing else can happen before.
 *
 * @throws {ConfigError} with every problem of every file, each with its place; `message` is the whole report.
 *   `ERR_CONFIG_NOT_FOUND`: there is no agent. `ERR_CONFIG_CONTEXT_MISSING`: only `context.yaml` is missing.
 *   `ERR_CONFIG_INVALID`: everything else.
 * @example
 * const { agent, warnings } = await loadAgent('my-agent')
 */
export async function loadAgent(
  directory: string,
  options: LoadOptions = {},
): Promise<{ agent: LoadedAgent; warnings: ConfigWarning[] }> {
  const { parts, home, warnings } = await loadParts(directory, options)
  return { agent: { ...assemble(parts, options.overrides ?? []), home }, warnings }
}

/** Loads an agent, and returns its parts before they are put together. */
async function loadParts(
  directory: string,
  options: LoadOptions,
): Promise<{ parts: CompleteParts; home: string; warnings: ConfigWarning[] }> {
  const findings = collectFindings(options)
  const workplace = openDirectory(directory, options.shownAs)
  const reading = { workplace, options, findings }
  const beginning = readBeginning(reading)
  const { main, document } = beginning
  const collected = main && document && (await collectTools(document, main, ['tools'], reading))
  const parts = readParts(beginning, collected, reading)
  if (!isComplete(parts, findings)) throw invalid(findings)
  return { parts, home: workplace.home, warnings: inReadingOrder(findings.warnings) }
}

/** One load of an agent. */
interface Reading {
  workplace: Workplace
  options: LoadOptions
  findings: Findings
}

type Beginning = ReturnType<typeof readBeginning>

/** What the main file says besides its tools. */
export function readBeginning(
  { workplace, options, findings }: Reading,
  own: { llm?: LlmSettings | undefined; prompt?: Prompt } = {},
) {
  const sets = readSets(options.overrides ?? [], findings)
  const { main, document, keyEnv, isOtherProvider } = readMainFile(workplace, sets, findings)
  const at = main && { file: main, path: [], findings }
  const read =
    own.llm ?? (at && document && readLlm(document.llm, document.llm === undefined ? at : inside(at, 'llm')))
  const llm = read && {
    ...read,
    ...(keyEnv && keyEnv !== read.apiKeyEnv && { otherKeyEnv: keyEnv }),
    ...(isOtherProvider && { isOtherProvider }),
  }
  const script = main && readScript(llm, main, workplace, findings)
  const policy = at && readPolicy(document?.policy, inside(at, 'policy'))
  const prompt = own.prompt ?? readPrompt(document?.system_prompt, main, workplace, findings)
  return { sets, main, document, llm, script, policy, prompt, problems: findings.problems.length }
}

/** Reads every part, also after mistakes in another one, to report all mistakes at once. */
export function readParts(
  { sets, problems, ...beginning }: Beginning,
  collected: CollectedTools | undefined,
  { workplace, options: { env = process.env }, findings }: Reading,
) {
  const { main, document, llm, policy, prompt } = beginning
  const hasAll = findings.problems.length === problems
  const inTools = setsBelow(sets, 'tools').filter(({ path }) => path.length > 0)
  const all: ToolSet = collected ? setTools(collected.tools, inTools, { hasAll }, findings) : new Map()
  const tools = main && collected ? withoutCredentials(all, collected.packages, main, findings) : all
  if (main) checkPolicyTools(policy, tools, { file: main, path: ['policy'], findings })
  const hooks = loadHooks(main, workplace, setsBelow(sets, 'hooks'), findings)
  warnOfOwnScripts({ tools, hooks }, workplace.home, findings)
  const promptFile = prompt?.name ?? document?.system_prompt ?? USUAL_PROMPT
  const context = readContext(workplace, promptFile, setsBelow(sets, 'context'), findings)
  if (context !== undefined) checkSources(context, prompt?.name, workplace, findings)
  const isWritten = liesInParentRun(workplace.home, env)
  if (isWritten || runsAbove(env).length > 0)
    refuseCredentials({ main, llm, tools, hooks, context }, { isWritten, env }, findings)
  const { overrides = [], imported = [] } = collected ?? {}
  return { ...beginning, context, hooks, tools, overrides, imported }
}

type Parts = ReturnType<typeof readParts>
type Needed = 'main' | 'document' | 'llm'
export type CompleteParts = Parts & { [part in Needed]: NonNullable<Parts[part]> } & {
  context: Required<LoadedContext>
}

/** A part is only missing if a problem was reported for it. */
export function isComplete(parts: Parts, { problems }: Findings): parts is CompleteParts {
  const { main, document, context, llm } = parts
  return problems.length === 0 && [main, document, context?.manifest, llm].every((part) => part !== undefined)
}

/** Puts the parts of an agent together. */
export function assemble(parts: CompleteParts, set: readonly string[]): Agent {
  const { main, document, prompt, context, hooks, tools, overrides, imported, llm, script, policy } = parts
  const version = document.version === undefined ? {} : { version: writtenVersion(document.version, main) }
  const hooksInMain = hooks.file?.path === main.path ? hooks.file : undefined // as before version 1.9
  const { imports: _, ...rest } = (hooksInMain ?? main).value as Record<string, unknown>
  const resolved = [...tools.values()].map((tool) => recordedFormOf(tool, main))
  const config = maskSecrets({
    ...rest,
    ...version,
    ...((resolved.length > 0 || 'tools' in rest) && { tools: resolved }),
  }) as Record<string, unknown> // masked, for it is written into every run
  const snapshots = document.snapshots && snapshotsOf(document.snapshots)
  const files = Object.entries({
    [basename(prompt?.name ?? USUAL_PROMPT)]: prompt?.text,
    [CONTEXT_FILE]: textOf(context.file),
    [HOOKS_FILE]: hooks.file && !hooksInMain ? textOf(hooks.file) : undefined,
    'agent.yaml': toYaml(config),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    name: document.name,
    ...version,
    ...(document.description !== undefined && { description: document.description }),
    llm,
    ...(script && { script }),
    ...(document.max_iterations !== undefined && { maxIterations: document.max_iterations }),
    ...(document.max_tool_calls !== undefined && { maxToolCalls: document.max_tool_calls }),
    toolConcurrency: document.tool_concurrency ?? AGENT_DEFAULTS.toolConcurrency,
    acceptEmpty: document.accept_empty ?? AGENT_DEFAULTS.acceptEmpty,
    ...(snapshots && { snapshots }),
    ...(document.limits && { limits: limitsOf(document.limits) }),
    ...(document.prices && { prices: document.prices }),
    ...(policy && { policy }),
    tools: toolsAlone(tools, main),
    manifest: context.manifest,
    hooks: hooks.hooks,
    overrides,
    imported,
    snapshot: {
      config,
      files: Object.fromEntries(files),
      hasImports: Object.hasOwn(main.value as object, 'imports'),
      overrides: lastOfEachPath(set),
    },
  }
}

/** Leaves out overrides that a later one of the same path replaces. */
function lastOfEachPath(overrides: readonly string[]): string[] {
  const pathOf = (text: string) => text.slice(0, text.indexOf('='))
  return overrides.filter(
    (text, index) => !overrides.slice(index + 1).some((later) => pathOf(later) === pathOf(text)),
  )
}

/** A file as it is written, or in plain YAML if something was set in it. */
function textOf({ text, value, edits }: YamlFile): string {
  return edits.length === 0 ? text : toYaml((value ?? {}) as Record<string, unknown>)
}

/**
 * YAML in which each key, and each element of a list, is one line of JSON, so that a diff of two runs' configurations shows
 * which tools differ.
 */
export function toYaml(config: Record<string, unknown>): string {
  const lines = Object.entries(config).flatMap(([key, value]) => {
    const name = /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key)
    if (!Array.isArray(value) || value.length === 0) return `${name}: ${JSON.stringify(value)}`
    return [`${name}:`, ...value.map((item) => `  - ${JSON.stringify(item)}`)]
  })
  return `${lines.join('\n')}\n`
}

/** The error for files that exist and cannot be used, with all their problems in reading order. */
export function invalid(findings: Findings): ConfigError {
  const problems = inReadingOrder(findings.problems)
  const warnings = inReadingOrder(findings.warnings)
  const [{ code = 'ERR_CONFIG_INVALID' } = {}, ...others] = problems
  return new ConfigError(others.length > 0 ? 'ERR_CONFIG_INVALID' : code, formatReport(problems, warnings), {
    problems,
    warnings,
  })
}
