import { nearestNames } from '@delta/executor'
import { LLM_KEYS, type LlmSettings, parseLlm } from '@delta/model'
import { AGENT_KEYS, type AgentDocument, agentSchema } from './agent-schema.js'
import { checkSources, type LoadedContext, readContext } from './context.js'
import { findMainFile, readYaml, type Workplace } from './files.js'
import { liesInParentRun, refuseCredentials, runsAbove } from './guards.js'
import { loadHooks } from './hooks.js'
import { importRootsOf } from './import-path.js'
import { collectTools, type Override } from './imports.js'
import { isMap, type ValuePath } from './path.js'
import { checkPolicyTools, readPolicy } from './policy.js'
import type { Findings } from './problems.js'
import { readPrompt, readScript, USUAL_PROMPT } from './prompt.js'
import { readSets, type SetValue, setIn, setsBelow } from './set.js'
import {
  fitShape,
  inside,
  report,
  type ShapeProblem,
  type Spot,
  show,
  withoutFaults,
  wrong,
} from './shape.js'
import { setTools, type ToolSet } from './tools.js'
import type { YamlFile } from './yaml.js'

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

export type Parts = Awaited<ReturnType<typeof readParts>>

/** Reads everything there is, also when something was wrong before: people want to see all mistakes at once. */
export async function readParts(workplace: Workplace, options: LoadOptions, findings: Findings) {
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
  const hooks = loadHooks(document, main, workplace, setsBelow(sets, 'hooks'), findings)
  const promptFile = prompt?.name ?? document?.system_prompt ?? USUAL_PROMPT
  const context = readContext(workplace, promptFile, setsBelow(sets, 'context'), findings)
  if (context !== undefined) checkSources(context, prompt?.name, workplace, findings)
  const isWritten = liesInParentRun(workplace.home, options.environment)
  if (isWritten || runsAbove(options.environment).length > 0)
    refuseCredentials({ main, llm, tools, hooks, context }, isWritten, findings)
  return { main, document, prompt, context, hooks, tools, overrides, llm, script, policy }
}

type Needed = 'main' | 'document' | 'llm'
export type CompleteParts = Parts & { [part in Needed]: NonNullable<Parts[part]> } & {
  context: Required<LoadedContext>
}

/** A part is only missing when a problem said why. */
export function isComplete(parts: Parts): parts is CompleteParts {
  const { main, document, context, llm } = parts
  return [main, document, context?.manifest, llm].every((part) => part !== undefined)
}

interface MainFile {
  main?: YamlFile
  document?: AgentDocument
}

function readMainFile(workplace: Workplace, sets: readonly SetValue[], findings: Findings): MainFile {
  const { file } = readYaml(findMainFile(workplace, findings), workplace, findings)
  if (file === undefined) return {}
  if (file.value === null) {
    const hint = 'It needs at least a name and a model: delta init writes an example.'
    findings.error({ file: file.name }, 'The file is empty.', hint)
    return {}
  }
  const migrated = migrateMainFile(file, findings)
  const set = setIn(migrated.value, migrated, [], sets.filter(isOfMainFile), findings)
  const main = { ...set.file, value: set.value }
  if (isMap(set.value) && sets.some(({ path }) => path.join('.') === 'tools')) {
    const { imports: _, ...rest } = set.value // `tools=…` is all tools that there are: none is imported
    main.value = rest
  }
  const known = sets.length === 0 ? AGENT_KEYS : [...AGENT_KEYS, 'context', 'hooks']
  const { value, problems } = fitShape(agentSchema, main.value, known)
  report(problems.map(pointToLlm), { file: main, path: [], findings })
  const document = value ?? withoutFaults(agentSchema, main.value, problems, { name: 'unnamed' })
  return document === undefined ? { main } : { main, document }
}

function isOfMainFile({ path: [key, ...inner] }: SetValue): boolean {
  return key !== 'context' && key !== 'hooks' && (key !== 'tools' || inner.length === 0)
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

/**
 * Reads version 1.1's `llm_config: { model_name }` as `llm: { model }`, and says so.
 *
 * @returns the file with its value in today's spelling; places are still those of what is written.
 */
function migrateMainFile(file: YamlFile, findings: Findings): YamlFile {
  const value = file.value
  if (!isMap(value) || !isMap(value.llm_config)) return file

  const { llm_config: old, ...rest } = value
  const place = file.locate(['llm_config'], { key: true })
  if (value.llm !== undefined) {
    findings.error(
      place,
      '"llm_config" is the old name of "llm", which is given as well.',
      'Remove llm_config.',
    )
    return { ...file, value: rest }
  }
  findings.deprecated(
    place,
    '"llm_config" is now called "llm", and "model_name" in it "model".',
    'Rename them.',
  )

  const { model_name: model, ...parameters } = old as Record<string, unknown>
  const renamed = model !== undefined && parameters.model === undefined
  const locate: YamlFile['locate'] = (path, at) =>
    file.locate(path[0] === 'llm' ? oldPath(path, renamed) : path, at)
  return { ...file, value: { ...rest, llm: renamed ? { model, ...parameters } : old }, locate }
}

function oldPath([, key, ...inner]: ValuePath, renamed: boolean): ValuePath {
  if (key === undefined) return ['llm_config']
  return ['llm_config', renamed && key === 'model' ? 'model_name' : key, ...inner]
}

/** Parameters that servers of chat completions are known to take. Every other one is passed on just the same. */
const API_PARAMETERS: readonly string[] = [
  ...['temperature', 'top_p', 'top_k', 'top_a', 'min_p', 'typical_p', 'seed', 'stop', 'logit_bias'],
  ...['max_tokens', 'max_completion_tokens', 'min_tokens', 'num_ctx', 'num_predict', 'keep_alive'],
  ...['frequency_penalty', 'presence_penalty', 'repetition_penalty', 'length_penalty', 'repeat_penalty'],
  ...['logprobs', 'top_logprobs', 'best_of', 'ignore_eos', 'stop_token_ids', 'skip_special_tokens'],
  ...['response_format', 'format', 'guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
  ...['reasoning', 'reasoning_effort', 'include_reasoning', 'thinking', 'thinking_budget', 'enable_thinking'],
  ...['verbosity', 'modalities', 'audio', 'prediction', 'tool_choice', 'parallel_tool_calls', 'functions'],
  ...['function_call', 'stream_options', 'web_search_options', 'plugins', 'transforms', 'models', 'route'],
  ...['user', 'metadata', 'store', 'service_tier', 'safety_identifier', 'safety_settings', 'options'],
  ...['prompt_cache_key', 'prompt_cache_retention', 'cache_control', 'extra_body', 'chat_template_kwargs'],
]

const KNOWN_KEYS = [...LLM_KEYS, ...API_PARAMETERS]

/** Reads `llm:`. A key that nobody knows is a parameter of the API; one that looks like a mistyped known one is pointed out. */
function readLlm(value: unknown, spot: Spot): LlmSettings | undefined {
  const { file, path, findings } = spot
  if (value === undefined || value === null) {
    const message = value === null ? '"llm" is empty.' : '"llm" is missing.'
    findings.error(file.locate(path, { key: true }), message, 'Write llm: { model: gpt-4o }.')
    return undefined
  }
  const parsed = parseLlm(value)
  if (!parsed.ok) report(parsed.problems, spot)
  if (isMap(value)) {
    for (const key of Object.keys(value)) checkName(inside(spot, key), key)
    checkNumbers(value, spot)
  }
  return parsed.ok ? parsed.llm : undefined
}

/** `model: gpt-4o` at the top of the file is a frequent mistake. */
function pointToLlm(problem: ShapeProblem): ShapeProblem {
  const isSetting = problem.unknownKey && KNOWN_KEYS.includes(String(problem.path[0]))
  return isSetting ? { ...problem, hint: 'It belongs under "llm:".' } : problem
}

function checkName({ file, path, findings }: Spot, key: string): void {
  if (KNOWN_KEYS.includes(key) || key.startsWith('x-')) return
  const [meant] = nearestNames(key, KNOWN_KEYS)
  if (meant === undefined) return
  const message = `llm: unknown key "${key}"; it would be sent to the API as it is.`
  findings.unknownKey(file.locate(path, { key: true }), message, `Did you mean "${meant}"?`)
}

/** Two parameters that mean the same to every server are looked at before a request is refused for them. */
function checkNumbers(llm: Record<string, unknown>, spot: Spot): void {
  for (const name of ['temperature', 'max_tokens']) {
    const value = llm[name] ?? 0
    if (typeof value !== 'number') wrong(inside(spot, name), `must be a number, not ${show(value)}`)
    else if (name === 'temperature' && !(value >= 0 && value <= 2))
      report([{ path: name, message: 'most servers take numbers from 0 to 2' }], spot, spot.findings.warn)
  }
}
