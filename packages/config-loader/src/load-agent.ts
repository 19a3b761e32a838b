import { basename } from 'node:path'
import type { ContextManifest } from '@delta/context'
import type { Policy, Tool } from '@delta/executor'
import type { ScriptTurn } from '@delta/model'
import type { LlmSettings } from '@delta/model/internal'
import { CONTEXT_FILE, CONTEXT_MISSING, checkSources, type LoadedContext, readContext } from './context.js'
import { openDirectory, type Workplace } from './files.js'
import { liesInParentRun, refuseCredentials, runsAbove } from './guards.js'
import { HOOKS_FILE, type Hooks, loadHooks } from './hooks.js'
import { collectTools, importRootsOf, type Override } from './imports.js'
import { checkPolicyTools, type MainFile, readLlm, readMainFile, readPolicy } from './main-file.js'
import {
  ConfigError,
  type ConfigWarning,
  collectFindings,
  type Findings,
  formatReport,
  inReadingOrder,
  maskSecrets,
} from './problems.js'
import { readPrompt, readScript, USUAL_PROMPT } from './prompt.js'
import { readSets, type SetValue, setsBelow } from './set.js'
import { expandedFormOf, setTools, type ToolSet, toolsAlone } from './tools.js'
import { writtenVersion, type YamlFile } from './yaml.js'

/** What counts where `agent.yaml` says nothing. */
export const AGENT_DEFAULTS = {
  /** Cycles after a message of the user, before the run fails. */
  maxIterations: 30,
  /** How many calls of one response may run side by side. */
  toolConcurrency: 1,
  /** How many calls of one response run at all. */
  maxToolCalls: 128,
  /** Whether an answer that is empty, or lost a tool call, completes the run. */
  acceptEmpty: false,
} as const

/** One agent, validated: everything a run needs to know of its files. */
export interface Agent {
  /** Absolute, symbolic links resolved. */
  home: string
  /** `name` of `agent.yaml`: for people, and in journals. */
  name: string
  /** The author's own, kept as a record. */
  version?: string
  /** For people. */
  description?: string
  llm: LlmSettings
  /** The turns of a scripted model, if `llm.provider` is `script`. */
  script?: ScriptTurn[]
  /** Cycles after a message of the user, before the run fails; absent: see `AGENT_DEFAULTS`. */
  maxIterations?: number
  /** How many calls of one response may run side by side. */
  toolConcurrency: number
  /** How many calls of one response run at all; absent: see `AGENT_DEFAULTS`. */
  maxToolCalls?: number
  /** Whether an answer that is empty, or lost a tool call, completes the run. */
  acceptEmpty: boolean
  /** Absent: every effect of the author's own tools is allowed; see `needsApproval` of `@delta/executor`. */
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
}

/** What loading depends on besides the files. */
export interface LoadOptions {
  /** The environment of the person who runs the agent; only `DELTA_*` names are looked at. */
  environment: NodeJS.ProcessEnv
  /** Directories, besides the agent's own, from which files may be imported. */
  importRoots?: readonly string[] | undefined
  /** How messages call what is loaded, for example as the person typed it. Default: the path as given. */
  shownAs?: string | undefined
  /**
   * Values that count in place of what the files say, each as `path=value`: `llm.model=gpt-4o`, `tools.bash.timeout_ms=500`,
   * `context.sources.memory.max_tokens=`. A later one of the same path wins; unknown keys in them are errors.
   */
  overrides?: readonly string[] | undefined
  /** Unknown keys are errors instead of warnings. */
  strict?: boolean | undefined
}

/**
 * Loads an agent: `agent.yaml` and what it imports, `hooks.yaml`, `context.yaml`, and the prompt.
 *
 * Depends on the files and on what is passed in, and on nothing else; prints nothing and runs nothing. Files are read
 * synchronously: they are few and small, and nothing else can happen before.
 *
 * @throws {ConfigError} with every problem of every file, each with its place; `message` is the whole report.
 */
export async function loadAgent(
  directory: string,
  options: LoadOptions,
): Promise<{ agent: Agent; warnings: ConfigWarning[] }> {
  const { parts, workplace, warnings } = await loadParts(directory, options)
  return { agent: assemble(parts, workplace, options.overrides ?? []), warnings }
}

/** The same, not yet put together. */
export async function loadParts(
  directory: string,
  options: LoadOptions,
): Promise<{ parts: CompleteParts; workplace: Workplace; warnings: ConfigWarning[] }> {
  const findings = collectFindings(options)
  const workplace = openDirectory(directory, options.shownAs)
  const parts = await readParts(workplace, options, findings)
  if (findings.problems.length > 0 || !isComplete(parts)) throw invalid(findings)
  return { parts, workplace, warnings: inReadingOrder(findings.warnings) }
}

/** Reads everything there is, also when something was wrong before: people want to see all mistakes at once. */
async function readParts(workplace: Workplace, options: LoadOptions, findings: Findings) {
  const sets = readSets(options.overrides ?? [], findings)
  const mainFile = readMainFile(workplace, sets, findings)
  const { main, document } = mainFile
  const llm =
    main &&
    document &&
    readLlm(document.llm, { file: main, path: document.llm === undefined ? [] : ['llm'], findings })
  const script = main && readScript(llm, main, workplace, findings)
  const policyAt = main && { file: main, path: ['policy'], findings }
  const policy = policyAt && readPolicy(document?.policy, policyAt)
  const prompt = readPrompt(document?.system_prompt, main, workplace, findings)
  const { tools, overrides } = await loadTools(mainFile, workplace, sets, options, findings)
  if (policyAt) checkPolicyTools(policy, tools, policyAt)
  const hooks = loadHooks(main, workplace, setsBelow(sets, 'hooks'), findings)
  const promptFile = prompt?.name ?? document?.system_prompt ?? USUAL_PROMPT
  const context = readContext(workplace, promptFile, setsBelow(sets, 'context'), findings)
  if (context !== undefined) checkSources(context, prompt?.name, workplace, findings)
  const isWritten = liesInParentRun(workplace.home, options.environment)
  if (isWritten || runsAbove(options.environment).length > 0)
    refuseCredentials({ main, llm, tools, hooks, context }, isWritten, findings)
  return { main, document, prompt, context, hooks, tools, overrides, llm, script, policy }
}

type Parts = Awaited<ReturnType<typeof readParts>>
type Needed = 'main' | 'document' | 'llm'
export type CompleteParts = Parts & { [part in Needed]: NonNullable<Parts[part]> } & {
  context: Required<LoadedContext>
}

/** A part is only missing when a problem said why. */
function isComplete(parts: Parts): parts is CompleteParts {
  const { main, document, context, llm } = parts
  return [main, document, context?.manifest, llm].every((part) => part !== undefined)
}

async function loadTools(
  { main, document }: MainFile,
  workplace: Workplace,
  sets: readonly SetValue[],
  options: LoadOptions,
  findings: Findings,
): Promise<{ tools: ToolSet; overrides: Override[] }> {
  const overrides: Override[] = []
  const state = { workplace, findings, overrides, loaded: new Map() }
  const roots = importRootsOf(workplace.home, options, findings)
  if (main === undefined || document === undefined) return { tools: new Map(), overrides }
  const importer = { file: main, chain: [main.path], roots }
  const { imports, tools } = document
  const before = findings.problems.length
  const collected = await collectTools(imports ?? [], tools ?? [], importer, state)
  const hasAll = findings.problems.length === before
  const inTools = setsBelow(sets, 'tools').filter(({ path }) => path.length > 0)
  return { tools: setTools(collected, inTools, { hasAll }, findings), overrides }
}

function assemble(parts: CompleteParts, { home }: Workplace, set: readonly string[]): Agent {
  const { main, document, prompt, context, hooks, tools, overrides, llm, script, policy } = parts
  const version = document.version === undefined ? {} : { version: writtenVersion(document.version, main) }
  const hooksInMain = hooks.file?.path === main.path ? hooks.file : undefined // as before version 1.9
  const { imports: _, ...rest } = (hooksInMain ?? main).value as Record<string, unknown>
  const resolved = [...tools.values()].map(expandedFormOf)
  const config = maskSecrets({
    ...rest,
    ...version,
    ...((resolved.length > 0 || 'tools' in rest) && { tools: resolved }),
  }) as Record<string, unknown> // masked, for it is written into every run
  const files = Object.entries({
    [basename(prompt?.name ?? USUAL_PROMPT)]: prompt?.text,
    [CONTEXT_FILE]: textOf(context.file),
    [HOOKS_FILE]: hooks.file && !hooksInMain ? textOf(hooks.file) : undefined,
    'agent.yaml': toYaml(config),
  }).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return {
    home,
    name: document.name,
    ...version,
    ...(document.description !== undefined && { description: document.description }),
    llm,
    ...(script && { script }),
    ...(document.max_iterations !== undefined && { maxIterations: document.max_iterations }),
    ...(document.max_tool_calls !== undefined && { maxToolCalls: document.max_tool_calls }),
    toolConcurrency: document.tool_concurrency ?? AGENT_DEFAULTS.toolConcurrency,
    acceptEmpty: document.accept_empty ?? AGENT_DEFAULTS.acceptEmpty,
    ...(policy && { policy }),
    tools: toolsAlone(tools),
    manifest: context.manifest,
    hooks: hooks.hooks,
    overrides,
    snapshot: {
      config,
      files: Object.fromEntries(files),
      hasImports: Object.hasOwn(main.value as object, 'imports'),
      overrides: lastOfEachPath(set),
    },
  }
}

/** Of two sets of one path the first has no effect. */
function lastOfEachPath(overrides: readonly string[]): string[] {
  const pathOf = (text: string) => text.slice(0, text.indexOf('='))
  return overrides.filter(
    (text, index) => !overrides.slice(index + 1).some((later) => pathOf(later) === pathOf(text)),
  )
}

/** What a run keeps of the agent it ran: a record, never executed. */
export interface Snapshot {
  /** The files of `configuration/<seq>/`, by name: agent.yaml resolved, the others as they are. */
  files: Record<string, string>
  /** The same as a value, for `ENGINE_START`. */
  config: Record<string, unknown>
  /** Some of agent.yaml was written in files that it imports. */
  hasImports: boolean
  /** What the option `overrides` set, of each path the last: loading the same files with them gives the same agent. */
  overrides: string[]
}

/** What a file says: as it is written, or in plain YAML if something was set in it. */
function textOf({ text, value, setBy }: YamlFile): string {
  return setBy === undefined ? text : toYaml((value ?? {}) as Record<string, unknown>)
}

/**
 * YAML in which each key, and each element of a list, has one line of JSON: two runs' configurations compare by
 * tools, and writing it costs a tenth of what a YAML library takes for prettier text.
 */
function toYaml(config: Record<string, unknown>): string {
  const lines = Object.entries(config).flatMap(([key, value]) => {
    const name = /^[A-Za-z_][\w-]*$/.test(key) ? key : JSON.stringify(key)
    if (!Array.isArray(value) || value.length === 0) return `${name}: ${JSON.stringify(value)}`
    return [`${name}:`, ...value.map((item) => `  - ${JSON.stringify(item)}`)]
  })
  return `${lines.join('\n')}\n`
}

/** The error for files that were found and cannot be used: everything that is wrong with them, in reading order. */
export function invalid(findings: Findings): ConfigError {
  const problems = inReadingOrder(findings.problems)
  const warnings = inReadingOrder(findings.warnings)
  const onlyContext = problems.length === 1 && problems[0]?.message.startsWith(CONTEXT_MISSING)
  const code = onlyContext ? 'ERR_CONFIG_CONTEXT_MISSING' : 'ERR_CONFIG_INVALID'
  return new ConfigError(code, formatReport(problems, warnings), { problems, warnings })
}
