import { resolve } from 'node:path'
import type { ContextManifest, ContextSource } from '@delta/context'
import type { manifestSchema } from '@delta/context/internal'
import type { WrittenTool } from '@delta/executor'
import type { policySchema } from '@delta/executor/internal'
import type { ChatModel } from '@delta/model'
import type { LlmSettings, llmSchema } from '@delta/model/internal'
import { formatPath, showValue, type ValuePath } from '@delta/settings'
import { Document } from 'yaml'
import type * as z from 'zod/mini'
import type { AgentDocument } from './agent-schema.js'
import { CONTEXT_FILE } from './context.js'
import { openDirectory, type Workplace } from './files.js'
import { HOOKS_FILE, type HookName, type hookSchema } from './hooks.js'
import { type Agent, assemble, invalid, isComplete, readBeginning, readParts, toYaml } from './load-agent.js'
import { USUAL_PROMPT } from './main-file.js'
import { collectFindings, type Findings, formatReport } from './problems.js'
import { sentence } from './report.js'
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

/** An agent as a program writes it: the keys of `agent.yaml`, in their spelling, and what its other files would hold. */
export interface AgentDefinition
  extends Omit<AgentDocument, 'imports' | 'llm' | 'policy' | 'system_prompt' | 'tools'> {
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
  /** The directory that `${AGENT_HOME}` stands for, and at which `llm.script` starts. */
  home?: string | undefined
}

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
  const { home } = definition
  const findings = collectFindings()
  const model = isModel(definition.llm) ? definition.llm : undefined
  const written = { ...definition, ...(model && { llm: {} }) }
  const directory = openDirectory(String(home ?? '/')) // without a directory, paths are absolute
  const reading = { workplace: { ...directory, given: filesOf(written) }, options: { env: {} }, findings }
  if (model && !('complete' in model)) findings.error({ file: '' }, OF_AI_SDK, WRAP_IT)
  checkValues(written, findings)
  const prompt = { name: USUAL_PROMPT, text: definition.system }
  const beginning = readBeginning(reading, { prompt, llm: model && OWN_MODEL })
  const { main, document } = beginning
  const tools = main && readTools(document?.tools ?? [], { file: main, path: ['tools'], findings })
  const collected = tools && { tools: byName(tools), overrides: [], imported: [], packages: [] }
  const parts = readParts(beginning, collected, reading)
  if (!isComplete(parts, findings)) throw invalid(findings)
  parts.main.value = { ...Object(parts.main.value), llm: keptLlm(parts.document.llm, directory) }
  for (const warning of findings.warnings)
    process.emitWarning(formatReport([warning]), { code: 'DELTA_AGENT' })

  const agent: Agent = {
    ...assemble(parts, []),
    ...(home !== undefined && { home: directory.home }),
    ...(model && { model }),
  }
  return {
    ...agent,
    manifest: withSystem(agent.manifest, definition.system),
    snapshot: { ...agent.snapshot, isDefined: true, files: keptFiles(agent) },
  }
}

/** True for a model of the AI SDK, too, which is told from settings in the same way. */
function isModel(llm: unknown): llm is ChatModel {
  const { complete, doGenerate } = Object(llm) as { complete?: unknown; doGenerate?: unknown }
  return typeof complete === 'function' || typeof doGenerate === 'function'
}

const OF_AI_SDK = 'llm: is a model of the AI SDK.'
const WRAP_IT = 'Write llm: fromAiSdk(model), of @delta/model/ai-sdk.'

/** The settings beside a model that is an object: how it is asked is its own affair. */
const OWN_MODEL: LlmSettings = { provider: 'openai', stream: false, parameters: {} }

const COMMANDS = 'Tools are commands: move it into tool.mjs, and write exec: node tool.mjs with stdin: json.'
const GIVE_HOME = 'Add home: import.meta.dirname, or the directory that is meant.'

/** Reports functions, which no file can hold, and paths that would not lead to the same file from where the agent is kept. */
function checkValues({ system, home, ...written }: AgentDefinition, findings: Findings): void {
  const report = (path: ValuePath, message: string, hint?: string) =>
    findings.error({ file: '' }, sentence(path, message), hint)
  if (typeof system !== 'string' || system === '')
    report(['system'], `must be the agent's instructions, got ${showValue(system)}`)
  for (const [path, value] of leavesOf(written)) {
    if (typeof value === 'function')
      report(path, 'a function cannot be kept in a file and run by others', COMMANDS)
    if (typeof value !== 'string' || value === SYSTEM_PATH) continue
    if (/^context\.sources\[\d+\]\.path$/.test(formatPath(path)) && !/^[/$~]/.test(value))
      report(path, `"${value}" must begin with \${AGENT_HOME}/, \${CWD}/ or /`)
    const [, name] = /(?<!\\)\$\{?((?:AGENT|TOOL)_HOME)\b/.exec(value) ?? []
    if (home === undefined && name !== undefined)
      report(path, `\${${name}} needs the directory of the agent, and none was given`, GIVE_HOME)
  }
}

function isSystem(source: ContextSource | undefined): source is Extract<ContextSource, { type: 'file' }> {
  return source?.type === 'file' && source.path === SYSTEM_PATH
}

/** The values that hold no others, each with its path. */
function leavesOf(value: unknown, path: ValuePath = []): [ValuePath, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]]
  return Object.entries(value).flatMap(([key, inner]) =>
    leavesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  )
}

/** The values in the place of the files that `loadAgent` reads. */
function filesOf({ system: _, home: __, context = DEFAULT_CONTEXT, hooks, ...main }: AgentDefinition) {
  return {
    'agent.yaml': valueFile('agent.yaml', main),
    [CONTEXT_FILE]: valueFile(CONTEXT_FILE, context, ['context']),
    [HOOKS_FILE]: hooks && valueFile(HOOKS_FILE, hooks, ['hooks']),
  }
}

/** A copy of a value in the place of a file: it is kept under the name, and messages say no place but the path. */
function valueFile(path: string, value: object, base: ValuePath = []): YamlFile {
  const copy: unknown = JSON.parse(JSON.stringify(value) ?? 'null') // of a function, which was reported
  return {
    path,
    name: '',
    text: toYaml(Object(copy)),
    value: copy,
    document: new Document(),
    base,
    edits: [],
    locate: () => ({ file: '' }),
    setBy: () => undefined,
    written: () => undefined,
  }
}

/** The instructions as a source of type text: byte for byte, as a file's would be. */
function withSystem(manifest: ContextManifest, system: string): ContextManifest {
  const text = system.replace(/\\?\$\{[^}]*\}/g, (variable) => `\\${variable}`)
  const sources = manifest.sources.map((source) => {
    if (!isSystem(source)) return source
    const { path: _, onMissing: __, ...rest } = source
    return { id: 'system_prompt.md', ...rest, type: 'text' as const, text }
  })
  return { ...manifest, sources }
}

/** `llm:` as it is kept: with paths that lead somewhere from there. */
function keptLlm(llm: unknown, { home }: Workplace): unknown {
  if (!isMap(llm) || typeof llm.script !== 'string') return llm
  return { ...llm, script: llm.provider === 'script' ? KEPT_SCRIPT : resolve(home, llm.script) }
}

const KEPT_SCRIPT = 'script.yaml'
const OTHER_MODEL = "llm: {} # the program's own model; name another one: --set llm.model=NAME"

/** The files of `configuration/<seq>/`, from which an engine without the program can load the agent. */
function keptFiles({ model, script, snapshot, home }: Agent): Record<string, string> {
  const { [USUAL_PROMPT]: prompt = '', ...files } = snapshot.files
  const place = home === undefined ? '${AGENT_HOME}' : JSON.stringify(home).slice(1, -1)
  const kept = Object.entries(files).map(([name, text]) => {
    const inPlace = text.replace(/(?<!\\)\$\{AGENT_HOME\}(?!\/system_prompt\.md)/g, () => place)
    return [name, model ? inPlace.replace(/^llm: \{\}$/m, OTHER_MODEL) : inPlace]
  })
  const turns = script && { [KEPT_SCRIPT]: `${JSON.stringify(script)}\n` }
  return { [USUAL_PROMPT]: prompt, ...Object.fromEntries(kept), ...turns }
}
