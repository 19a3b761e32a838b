import { join, resolve } from 'node:path'
import { type Policy, safeParsePolicy } from '@delta/executor'
import { isInside } from '@delta/executor/internal'
import type { Api, ScriptTurn } from '@delta/model'
import {
  findLlmProblems,
  LLM_HINTS,
  type LlmSettings,
  llmKeys,
  llmSchema,
  llmSettings,
  SCRIPT_HINT,
  scriptSchema,
} from '@delta/model/internal'
import { apiOfProvider, vendorOfProvider } from '@delta/model/vendors'
import { fitShape, formatPath, nearestNames, type ShapeProblem } from '@delta/settings'
import { type AgentDocument, agentSchema, IMPORT_A_SERVER } from './agent-schema.js'
import { displayName, findMainFile, readText, readYaml, realPath, type Workplace } from './files.js'
import { HOOKS_FILE, OLD_KEYS } from './hooks.js'
import type { Findings } from './problems.js'
import {
  inside,
  report,
  reportUnknownName,
  type Spot,
  sentence,
  strictly,
  withoutFaults,
  wrong,
} from './report.js'
import { type SetValue, setIn } from './set.js'
import type { ToolSet } from './tools.js'
import { isMap, renameIn, replaceIn, type YamlFile } from './yaml.js'

/** `agent.yaml`, as far as it can be read. */
export interface MainFile {
  main?: YamlFile
  document?: AgentDocument
  /** `llm.api_key_env` as the file has it. */
  keyEnv?: string
  /** True if something was set so that another provider answers than the file's. */
  isOtherProvider?: boolean
}

/**
 * Reads the agent's main file.
 *
 * @param sets - Everything that was set in the agent. Those of the main file's keys count here.
 */
export function readMainFile(workplace: Workplace, sets: readonly SetValue[], findings: Findings): MainFile {
  const { file } = readYaml(findMainFile(workplace, findings), workplace, findings)
  if (file === undefined) return {}
  if (file.value === null) {
    findings.error({ file: file.name }, 'The file is empty.', EMPTY)
    return {}
  }
  renameOldKeys(file, findings)
  const { api_key_env: keyEnv, provider } = llmOf(file)
  setIn(file, [], [...withoutServer(file, sets, findings), ...sets.filter(isOfMainFile)], findings)
  const all = sets.find(({ path }) => path.join('.') === 'tools')
  if (all && isMap(file.value)) replaceIn(file, ['imports'], undefined, all.place) // `tools=…` sets all tools there are
  const known = workplace.given ? DEFINED_KEYS : sets.length > 0 ? SET_KEYS : []
  const document = readDocument(file, known, findings)
  return {
    main: file,
    ...(document && { document }),
    ...(typeof keyEnv === 'string' && { keyEnv }),
    isOtherProvider: vendorOfProvider(provider) !== vendorOfProvider(llmOf(file).provider),
  }
}

/** Keys that stand beside those of the main file where values are set, and in a program's definition. */
const SET_KEYS = ['context', 'hooks']
const DEFINED_KEYS = [...SET_KEYS, 'system', 'home']

const EMPTY =
  'It needs at least a name and a model. Or make an agent that runs in a new directory: delta init my-agent'

/**
 * Reads the keys of the main file itself.
 *
 * @param known - Further keys to propose for a mistyped one.
 */
function readDocument(
  main: YamlFile,
  known: readonly string[],
  findings: Findings,
): AgentDocument | undefined {
  const { value, problems } = fitShape(agentSchema, withoutHooks(main.value), known)
  const spot = { file: main, path: [], findings }
  // with a misspelt key, a run would spend more, cost something else, or keep what it must not
  const isStrict = ({ path: [key] }: ShapeProblem) => STRICT.has(key) || SERVERS.has(key)
  report(problems.filter(isStrict).map(pointElsewhere), strictly(spot))
  report(problems.filter((problem) => !isStrict(problem)).map(pointElsewhere), spot)
  return value ?? withoutFaults(agentSchema, main.value, problems, { name: 'unnamed' })
}

const STRICT = new Set<unknown>(['limits', 'prices', 'snapshots'])
/** As other programs list MCP servers: without them, the agent would have no tools. */
const SERVERS = new Set<unknown>(['mcp_servers', 'mcpServers'])

/** Hooks stood here before version 1.9: `loadHooks` reads them. */
function withoutHooks(value: unknown): unknown {
  if (!isMap(value)) return value
  const { lifecycle_hooks: _, hooks: __, ...rest } = value
  return rest
}

function isOfMainFile({ path: [key, ...inner] }: SetValue): boolean {
  return key !== 'context' && key !== 'hooks' && (key !== 'tools' || inner.length === 0)
}

function llmOf({ value }: YamlFile): Record<string, unknown> {
  return isMap(value) && isMap(value.llm) ? value.llm : {}
}

/** The keys of `llm` that say which server answers, and what it alone gets. */
export const SERVER_KEYS: readonly string[] = ['base_url', 'api', 'api_key_env', 'headers']

/**
 * Removes what the file says of its own server if another provider is set: that provider's key would go there. What is set for
 * the new one stays.
 */
function withoutServer(file: YamlFile, sets: readonly SetValue[], findings: Findings): SetValue[] {
  const ofPath = (path: string) => sets.findLast((set) => set.path.join('.') === path)
  const set = ofPath('llm.provider')
  const llm = llmOf(file)
  const vendor = vendorOfProvider(llm.provider)
  if (set === undefined || vendorOfProvider(set.value) === vendor || ofPath('llm')) return []
  const keys = SERVER_KEYS.filter((key) => Object.hasOwn(llm, key))
  const unused = keys.map((key) => `llm.${key}`).filter((path) => ofPath(path) === undefined)
  const message = `${file.name} is for provider ${vendor.id}, so these are not used: ${unused.join(', ')}.`
  if (unused.length > 0) findings.warn(set.place, message)
  return keys.map((key) => ({ path: ['llm', key], written: '', value: undefined, place: set.place }))
}

/** The hint for keys that belong elsewhere: `model: gpt-4o` is a frequent mistake, and `hook:` would be an overlooked guard. */
function pointElsewhere(problem: ShapeProblem): ShapeProblem {
  const key = String(problem.path[0])
  if (!problem.unknownKey) return problem
  if (SERVERS.has(key)) return { ...problem, hint: IMPORT_A_SERVER }
  if (knownKeys().includes(key)) return { ...problem, hint: 'It belongs under "llm:".' }
  const [nearest] = problem.nearest === undefined ? nearestNames(key, OLD_KEYS) : []
  return nearest ? { ...problem, nearest, hint: `Hooks belong in ${HOOKS_FILE}.` } : problem
}

/** Renames version 1.1's `llm_config: { model_name }` to `llm: { model }`, with a warning. */
function renameOldKeys(file: YamlFile, findings: Findings): void {
  if (!isMap(file.value) || !isMap(file.value.llm_config) || file.value.llm !== undefined) return
  const { model, model_name: oldModel } = file.value.llm_config
  const message = '"llm_config" is now called "llm", and "model_name" in it "model".'
  findings.deprecated(file.locate(['llm_config'], { key: true }), message, 'Rename them.')
  renameIn(file, ['llm_config'], 'llm')
  if (oldModel !== undefined && model === undefined) renameIn(file, ['llm', 'model_name'], 'model')
}

/** Reads `llm:`. An unknown key is a parameter of the API, and one that looks like a mistyped known key is reported. */
export function readLlm(value: unknown, spot: Spot): LlmSettings | undefined {
  const { file, path, findings } = spot
  if (value === undefined || value === null) {
    const message = value === null ? '"llm" is empty.' : '"llm" is missing.'
    findings.error(file.locate(path, { key: true }), message, 'Write llm: { model: gpt-4o }.')
    return undefined
  }
  const { value: data, problems } = fitShape(llmSchema, value)
  const rules = isMap(value) ? findLlmProblems(value) : []
  const told = new Set(rules.map(({ path }) => path))
  const shape = problems.filter((problem) => !told.has(formatPath(problem.path)))
  report(
    shape.map((problem) => ({ ...problem, hint: problem.hint ?? LLM_HINTS[problem.path[0] ?? ''] })),
    spot,
  )
  report(rules, spot)
  if (isMap(value)) {
    for (const key of Object.keys(value)) if (!told.has(key)) checkName(inside(spot, key), key, value)
    checkNumbers(value, spot)
    warnOfChatNames(value, spot)
  }
  return data === undefined || rules.length > 0 ? undefined : llmSettings(data)
}

/** Parameters that every server takes, with our own settings: only these are proposed for a mistyped one. */
const knownKeys = () => [...llmKeys(), 'temperature', 'max_tokens']

/** One letter is wrong, so that parameters of other names pass: `min_tokens` is not `max_tokens`. */
function checkName({ file, path, findings }: Spot, key: string, llm: Record<string, unknown>): void {
  if (knownKeys().includes(key) || key.startsWith('x-')) return
  const isOther = (known: string) => llm[known] !== undefined && key.startsWith(known) // `models` beside `model`
  const [suggested] = nearestNames(key, knownKeys(), 1).filter((known) => !isOther(known))
  if (suggested === undefined) return
  const message = `llm: unknown key "${key}"; it would be sent to the API as it is.`
  findings.unknownKey(file.locate(path, { key: true }), message, `Did you mean "${suggested}"?`)
}

/** Checks two parameters that mean the same to every server, before a server refuses a request for them. */
function checkNumbers(llm: Record<string, unknown>, spot: Spot): void {
  for (const name of ['temperature', 'max_tokens']) {
    const value = llm[name] ?? 0
    if (typeof value !== 'number') wrong(inside(spot, name), `must be a number, got ${JSON.stringify(value)}`)
    else if (name === 'temperature' && !(value >= 0 && value <= 2))
      report([{ path: name, message: 'most servers take numbers from 0 to 2' }], spot, spot.findings.warn)
  }
}

/** Parameters of Chat Completions that another API has under another name. */
const OTHER_NAMES: Readonly<Partial<Record<Api, Readonly<Record<string, string>>>>> = {
  responses: {
    max_tokens: 'max_output_tokens',
    max_completion_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning: { effort: … }',
    response_format: 'text: { format: … }',
  },
  messages: {
    max_completion_tokens: 'max_tokens',
    reasoning_effort: 'output_config: { effort: … }',
    response_format: 'output_config: { format: … }',
    stop: 'stop_sequences',
  },
}

function warnOfChatNames(llm: Record<string, unknown>, { file, path, findings }: Spot): void {
  const api = apiOfProvider(llm.provider ?? 'openai', llm.api as Api | undefined) ?? 'chat'
  const called = api === 'responses' ? 'Responses' : 'Messages'
  for (const [name, newName] of Object.entries(OTHER_NAMES[api] ?? {})) {
    if (llm[name] === undefined) continue
    const at = [...path, name]
    findings.warn(file.locate(at, { key: true }), sentence(at, `the ${called} API calls it ${newName}.`))
  }
}

const EMPTY_POLICY =
  'policy is empty, so the defaults hold: a person is asked before destructive tools run, and interactive tools are refused.'
const WRITE_A_RULE = 'Write policy: {} if that is what you want, or remove the key to allow every effect.'

/** Reads `policy:`. Without anything under it the defaults of all rules hold. An unknown rule is an error: it would protect nothing. */
export function readPolicy(value: unknown, spot: Spot): Policy | undefined {
  if (value === undefined) return undefined
  const { file, path, findings } = spot
  if (value === null) findings.warn(file.locate(path, { key: true }), EMPTY_POLICY, WRITE_A_RULE)
  const parsed = safeParsePolicy(value ?? {})
  if (parsed.ok) return parsed.policy
  report(parsed.problems, strictly(spot))
  return undefined
}

/** Reports consent to a tool that does not exist, unless a tool could not be read: it may have the name. */
export function checkPolicyTools(policy: Policy | undefined, tools: ToolSet, spot: Spot): void {
  if (spot.findings.problems.length > 0) return
  for (const name of Object.keys(policy?.tools ?? {})) {
    if (tools.has(name)) continue
    reportUnknownName(inside(spot, 'tools', name), `policy.tools: there is no tool "${name}".`, {
      known: [...tools.keys()],
      otherwise: 'Remove it.',
    })
  }
}

/** The file with the agent's instructions. */
export interface Prompt {
  /** Relative to the agent's directory. */
  name: string
  text: string
}

/** Where instructions are looked for if `system_prompt:` does not say. */
export const USUAL_PROMPT = 'system_prompt.md'
const OLD_PROMPT = 'system_prompt.txt'

/**
 * Reads the agent's prompt file. Undefined if there is none, or none that can be used.
 *
 * The file named by `system_prompt:` must exist inside the agent's directory.
 */
export function readPrompt(
  written: string | undefined,
  main: YamlFile | undefined,
  workplace: Workplace,
  findings: Findings,
): Prompt | undefined {
  if (written === undefined || main === undefined) return readUsualPrompt(workplace, findings)
  const spot = { file: main, path: ['system_prompt'], findings }
  const path = join(workplace.home, written)
  const read = readText(path)
  if (read.ok && isInside(realPath(path) ?? path, workplace.home)) return { name: written, text: read.text }
  if (read.ok) wrong(spot, `"${written}" leads out of the agent's directory`)
  else {
    const hint = `Write the agent's instructions into a file of its directory, such as ${USUAL_PROMPT}, and name that file here.`
    wrong(spot, `the file "${written}" ${read.message}`, read.reason === 'missing' ? hint : undefined)
  }
  return undefined
}

function readUsualPrompt(workplace: Workplace, findings: Findings): Prompt | undefined {
  for (const name of [USUAL_PROMPT, OLD_PROMPT]) {
    const path = join(workplace.home, name)
    const read = readText(path)
    if (!read.ok && read.reason === 'missing') continue
    const file = displayName(workplace, path)
    if (!read.ok) findings.error({ file }, `${read.message}.`)
    else if (name === OLD_PROMPT)
      findings.deprecated({ file }, `${OLD_PROMPT} is now called ${USUAL_PROMPT}.`, 'Rename the file.')
    return read.ok ? { name, text: read.text } : undefined
  }
  return undefined
}

/** Reads the turns of a scripted model from the file that `llm.script` names. */
export function readScript(
  llm: LlmSettings | undefined,
  main: YamlFile,
  workplace: Workplace,
  findings: Findings,
): ScriptTurn[] | undefined {
  if (llm?.provider !== 'script' || llm.script === undefined) return undefined
  const spot = { file: main, path: ['llm', 'script'], findings }
  const path = resolve(workplace.home, llm.script)
  const { exists, file } = readYaml(path, workplace, findings)
  if (!exists) wrong(spot, `"${llm.script}" does not exist`, "The path is relative to the agent's directory.")
  if (file === undefined) return undefined
  if (!isInside(realPath(path) ?? path, workplace.home)) {
    wrong(spot, `"${llm.script}" leads out of the agent's directory`)
    return undefined
  }
  const { value: turns, problems } = fitShape(scriptSchema, file.value)
  report(
    problems.map((problem) => ({ ...problem, hint: problem.hint ?? SCRIPT_HINT })),
    strictly({ file, path: [], findings }), // a turn without its calls would be another one
  )
  return problems.length === 0 ? turns : undefined
}
