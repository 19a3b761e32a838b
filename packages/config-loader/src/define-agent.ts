import { isAbsolute, resolve } from 'node:path'
import type { ContextManifest } from '@delta/context'
import type { manifestSchema } from '@delta/context/internal'
import type { WrittenTool } from '@delta/executor'
import { formatPath, type policySchema, showValue, type ValuePath } from '@delta/executor/internal'
import type { ChatModel } from '@delta/model'
import type { LlmSettings, llmSchema } from '@delta/model/internal'
import type * as z from 'zod/mini'
import { CONTEXT_FILE, checkManifest, checkSources, type LoadedContext } from './context.js'
import { openDirectory, type Workplace } from './files.js'
import { HOOKS_FILE, type HookName, type hookSchema, readHooks } from './hooks.js'
import { type Agent, assemble, invalid, isComplete, type Parts } from './load-agent.js'
import { checkPolicyTools, readDocument, readLlm, readPolicy, readScript, USUAL_PROMPT } from './main-file.js'
import { collectFindings, type Findings, formatReport } from './problems.js'
import { inside, type Spot, sentence } from './report.js'
import { byName, readTools } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

/** What may stand under `llm:` in `agent.yaml`; every key that is not ours is a parameter of the API. */
export type LlmInput = z.input<typeof llmSchema>
/** An element of `tools:` in `agent.yaml`. A function has a `name`, too, so the type refuses what can be bound. */
export type ToolInput = WrittenTool & { bind?: never }
/** What may stand in `context.yaml`. */
export type ManifestInput = z.input<typeof manifestSchema>
/** What may stand in `hooks.yaml`. */
export type HooksInput = { [name in HookName]?: z.input<typeof hookSchema> }
/** What may stand under `policy:` in `agent.yaml`. */
export type PolicyInput = z.input<typeof policySchema>

/** An agent as a program writes it: what its files would hold, in their spelling. */
export interface AgentDefinition {
  /** For people, and in journals. */
  name: string
  /** The author's own, kept as a record. */
  version?: string | undefined
  description?: string | undefined
  /** Settings as in `agent.yaml`, or a model. Of a model nothing is kept: `delta continue` then needs `--set llm.model=…`. */
  llm: LlmInput | ChatModel
  /** The instructions. A source of `context` with the path `${AGENT_HOME}/system_prompt.md` is this text. */
  system: string
  /** Commands. A function is refused: nobody else could run it again from the journal. */
  tools?: readonly ToolInput[] | undefined
  /** Default: the instructions, then the journal, without headers. */
  context?: ManifestInput | undefined
  hooks?: HooksInput | undefined
  /** Default: every effect of the tools is allowed. */
  policy?: PolicyInput | undefined
  /** Iterations after each user message before the run fails. Default: 30. */
  maxIterations?: number | undefined
  /** How many tool calls of one response may run side by side. Default: 1. */
  toolConcurrency?: number | undefined
  /** How many tool calls of one response run at all. Default: 128. */
  maxToolCalls?: number | undefined
  /** Whether a response that is empty, or lost a tool call, completes the run. Default: false. */
  acceptEmpty?: boolean | undefined
  /** The directory that `${AGENT_HOME}` stands for, and at which relative paths of `context` and `llm` start. */
  home?: string | undefined
}

/** Our spelling of the options that `agent.yaml` spells otherwise. */
const RENAMED = {
  maxIterations: 'max_iterations',
  toolConcurrency: 'tool_concurrency',
  maxToolCalls: 'max_tool_calls',
  acceptEmpty: 'accept_empty',
} as const

const SYSTEM_PATH = `\${AGENT_HOME}/${USUAL_PROMPT}`

const DEFAULT_CONTEXT: ManifestInput = {
  header: false,
  sources: [
    { type: 'file', id: 'system_prompt', path: SYSTEM_PATH },
    { type: 'journal', id: 'conversation_history' },
  ],
}

/**
 * Makes an agent of values: what `loadAgent` makes of a directory. It is checked in the same way, and copied. Warnings become
 * warnings of Node.js with the code `DELTA_AGENT`.
 *
 * Each run keeps it as files in `configuration/<seq>/`, from which `delta continue --agent` goes on without the program.
 *
 * @throws {ConfigError} `ERR_CONFIG_INVALID` with every problem, each with its path (`tools[0].exec`); `ERR_CONFIG_NOT_FOUND`:
 *   there is no directory `home`.
 * @example
 * const agent = defineAgent({ name: 'writer', llm: { model: 'gpt-4o' }, system: 'You write pages.' })
 */
export function defineAgent(definition: AgentDefinition): Agent {
  const findings = collectFindings()
  const workplace = definition.home === undefined ? undefined : openDirectory(definition.home)
  const model = isModel(definition.llm) ? definition.llm : undefined
  const parts = partsOf(definition, { model, workplace, findings })
  for (const problem of [...findings.problems, ...findings.warnings]) {
    problem.message = ourSpelling(problem.message)
    problem.hint = problem.hint && ourSpelling(problem.hint)
  }
  if (!isComplete(parts, findings)) throw invalid(findings)
  for (const warning of findings.warnings)
    process.emitWarning(formatReport([warning]), { code: 'DELTA_AGENT' })

  const agent: Agent = {
    ...assemble(parts, []),
    ...(workplace && { home: workplace.home }),
    ...(model && { model }),
  }
  return {
    ...agent,
    manifest: withSystem(agent.manifest, definition.system),
    snapshot: { ...agent.snapshot, isDefined: true, files: keptFiles(agent) },
  }
}

function isModel(llm: unknown): llm is ChatModel {
  return typeof (llm as ChatModel | undefined)?.complete === 'function'
}

function ourSpelling(message: string): string {
  const names = Object.entries(RENAMED)
  return names.reduce((text, [own, written]) => text.replace(new RegExp(`\\b${written}\\b`), own), message)
}

interface Given {
  model: ChatModel | undefined
  workplace: Workplace | undefined
  findings: Findings
}

/** The parts of the agent, each read by what reads it from a file. */
function partsOf(definition: AgentDefinition, { model, workplace, findings }: Given): Parts {
  const { system, context = DEFAULT_CONTEXT, hooks, home: _, ...rest } = definition
  const top = { file: valueFile('', {}), path: [], findings }
  const own = inFilesSpelling({ ...rest, llm: model ? {} : rest.llm })
  const written = dataOf({ ...own, context: pathsWritten(context), hooks }, top) as Record<string, unknown>
  const { context: recipe, hooks: guards, ...document } = written
  if (workplace === undefined) requireHome(written, top)
  if (typeof system !== 'string' || system === '')
    findings.error({ file: '' }, `system: must be the agent's instructions, got ${showValue(system)}.`)

  const main = valueFile('agent.yaml', document)
  const at = { ...top, file: main }
  const known = readDocument(main, ['context', 'hooks', 'system', 'home', ...Object.keys(RENAMED)], findings)
  const llm = model ? OWN_MODEL : readLlm(document.llm, inside(at, 'llm'))
  const script = workplace && readScript(llm, main, workplace, findings)
  const policy = readPolicy(document.policy, inside(at, 'policy'))
  const tools = byName(readTools(known?.tools ?? [], inside(at, 'tools')))
  checkPolicyTools(policy, tools, inside(at, 'policy'))
  const hooksFile = guards === undefined ? {} : { file: valueFile(HOOKS_FILE, guards) }
  return {
    main: { ...main, value: { ...document, llm: keptLlm(document.llm, workplace) } },
    document: known,
    prompt: { name: USUAL_PROMPT, text: system },
    context: readRecipe({ ...top, file: valueFile(CONTEXT_FILE, recipe), path: ['context'] }, workplace),
    hooks: { hooks: readHooks(guards, inside(top, 'hooks')), base: [], ...hooksFile },
    tools,
    overrides: [],
    llm,
    script,
    policy,
  }
}

/** The settings beside a model that is an object: how it is asked is its own affair. */
const OWN_MODEL: LlmSettings = { provider: 'openai', stream: false, parameters: {} }

/** A value in the place of a file: it is kept under the name, and messages say no place but the path. */
function valueFile(path: string, value: unknown): YamlFile {
  return {
    path,
    name: '',
    text: '',
    value,
    locate: () => ({ file: '' }),
    setBy: () => undefined,
    written: () => undefined,
  }
}

function inFilesSpelling(definition: object): Record<string, unknown> {
  const names: Readonly<Record<string, string>> = RENAMED
  return Object.fromEntries(Object.entries(definition).map(([key, value]) => [names[key] ?? key, value]))
}

/** Relative paths begin in the agent's directory; the kept files lie elsewhere. */
function pathsWritten(context: unknown): unknown {
  if (!isMap(context) || !Array.isArray(context.sources)) return context
  const sources = context.sources.map((source: unknown) => {
    if (!isMap(source) || source.type !== 'file' || typeof source.path !== 'string') return source
    const isWhole = isAbsolute(source.path) || /^[$~]/.test(source.path)
    return isWhole ? source : { ...source, path: `\${AGENT_HOME}/${source.path.replace(/^\.\//, '')}` }
  })
  return { ...context, sources }
}

function readRecipe(spot: Spot, workplace: Workplace | undefined): LoadedContext {
  const { findings } = spot
  const context = checkManifest(spot)
  const others = context.sources.filter((source) => source === undefined || !isSystem(source))
  if (others.length === context.sources.length && context.manifest !== undefined) {
    const hint = `Add a source: { type: 'file', path: '${SYSTEM_PATH}' }`
    findings.warn({ file: '' }, 'context: no source is the text of system; the model will not see it.', hint)
  }
  if (workplace) checkSources({ ...context, sources: others }, undefined, workplace, findings)
  return context
}

function isSystem(source: ContextManifest['sources'][number]): boolean {
  return source.type === 'file' && source.path === SYSTEM_PATH
}

/** The instructions as a text of the recipe: byte for byte, as a file's would be. */
function withSystem(manifest: ContextManifest, system: string): ContextManifest {
  const text = system.replace(/\\?\$\{[^}]*\}/g, (variable) => `\\${variable}`)
  const sources = manifest.sources.map((source) => {
    if (source.type !== 'file' || !isSystem(source)) return source
    const { path: _, onMissing: __, ...rest } = source
    return { id: 'system_prompt.md', ...rest, type: 'text' as const, text }
  })
  return { ...manifest, sources }
}

/** A copy of plain data. Reports functions, which no file can hold, and leaves out what holds them. */
function dataOf(value: unknown, spot: Spot): unknown {
  if (typeof value === 'function' || typeof value === 'bigint' || typeof value === 'symbol') {
    const isTool = spot.path[0] === 'tools'
    const message = `a ${typeof value} cannot be ${isTool ? 'a tool: tools are commands' : 'kept in a file'}`
    const hint = isTool ? 'Move it into tool.mjs, and write exec: node tool.mjs with stdin: json.' : undefined
    spot.findings.error({ file: '' }, sentence(spot.path, message), hint)
    return undefined
  }
  if (Array.isArray(value)) return value.map((item, index) => dataOf(item, inside(spot, index)))
  if (typeof value !== 'object' || value === null) return value
  const before = spot.findings.problems.length
  const entries = Object.entries(value).map(([key, item]) => [key, dataOf(item, inside(spot, key))])
  const isTool = spot.path.length === 2 && spot.path[0] === 'tools'
  if (isTool && spot.findings.problems.length > before) return undefined // else it would also lack its exec
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

const NEEDS_HOME = 'needs the directory of the agent, and none was given'
const GIVE_HOME = 'Add home: import.meta.dirname, or the directory that is meant.'

/** Reports what would be looked for in the agent's directory. */
function requireHome(written: Record<string, unknown>, spot: Spot): void {
  const report = (path: ValuePath, what: string) =>
    spot.findings.error({ file: '' }, `${formatPath(path)}: ${what} ${NEEDS_HOME}.`, GIVE_HOME)
  const search = (value: unknown, path: ValuePath): void => {
    if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value))
        search(inner, [...path, Array.isArray(value) ? Number(key) : key])
    if (typeof value !== 'string' || path.at(-1) === 'description' || value === SYSTEM_PATH) return
    if (/(?<!\\)\$(?:\{AGENT_HOME\}|AGENT_HOME\b)/.test(value)) report(path, '${AGENT_HOME}')
  }
  search(written, [])
  const { provider, script } = Object(written.llm) as Record<string, unknown>
  if (provider === 'command' || provider === 'script') report(['llm', 'provider'], `"${provider}"`)
  if (provider === 'replay' && typeof script === 'string' && !isAbsolute(script))
    report(['llm', 'script'], `"${script}"`)
}

/** `llm:` as it is kept: with paths that lead somewhere from there. */
function keptLlm(llm: unknown, workplace: Workplace | undefined): unknown {
  if (!isMap(llm) || typeof llm.script !== 'string' || workplace === undefined) return llm
  return { ...llm, script: llm.provider === 'script' ? KEPT_SCRIPT : resolve(workplace.home, llm.script) }
}

const KEPT_SCRIPT = 'script.yaml'
const OTHER_MODEL = "llm: {} # the program's own model; name another one: --set llm.model=NAME"

/** The files of `configuration/<seq>/`, from which an engine without the program can load the agent. */
function keptFiles({ model, script, snapshot, home }: Agent): Record<string, string> {
  const { [USUAL_PROMPT]: prompt = '', ...files } = snapshot.files
  const place = home && JSON.stringify(home).slice(1, -1)
  const inPlace = (text: string) =>
    place === undefined ? text : text.replace(/(?<!\\)\$\{AGENT_HOME\}(?!\/system_prompt\.md)/g, () => place)
  const kept = Object.entries(files).map(([name, text]) => [
    name,
    inPlace(model ? text.replace(/^llm: \{\}$/m, OTHER_MODEL) : text),
  ])
  return {
    [USUAL_PROMPT]: prompt,
    ...Object.fromEntries(kept),
    ...(script && { [KEPT_SCRIPT]: `${JSON.stringify(script)}\n` }),
  }
}
