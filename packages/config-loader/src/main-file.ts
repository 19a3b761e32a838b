import { type Policy, safeParsePolicy } from '@delta/executor'
import { fitShape, nearestNames, type ShapeProblem, type ValuePath } from '@delta/executor/internal'
import { LLM_KEYS, type LlmSettings, safeParseLlm } from '@delta/model/internal'
import { type AgentDocument, agentSchema } from './agent-schema.js'
import { findMainFile, readYaml, type Workplace } from './files.js'
import type { Findings } from './problems.js'
import { type SetValue, setIn } from './set.js'
import { inside, report, reportUnknownName, type Spot, withoutFaults, wrong } from './shape.js'
import type { ToolSet } from './tools.js'
import { isMap, type YamlFile } from './yaml.js'

/** `agent.yaml`, read as far as it can be. */
export interface MainFile {
  main?: YamlFile
  document?: AgentDocument
}

/**
 * Reads the agent's main file.
 *
 * @param sets - What was set in the agent, of which its own keys count here.
 */
export function readMainFile(workplace: Workplace, sets: readonly SetValue[], findings: Findings): MainFile {
  const { file } = readYaml(findMainFile(workplace, findings), workplace, findings)
  if (file === undefined) return {}
  if (file.value === null) {
    findings.error({ file: file.name }, 'The file is empty.', 'It needs at least a name and a model.')
    return {}
  }
  const migrated = migrateMainFile(file, findings)
  const set = setIn(migrated.value, migrated, [], sets.filter(isOfMainFile), findings)
  const main = { ...set.file, value: set.value }
  if (isMap(set.value) && sets.some(({ path }) => path.join('.') === 'tools')) {
    const { imports: _, ...rest } = set.value // `tools=…` is all tools that there are: none is imported
    main.value = rest
  }
  const { value, problems } = fitShape(
    agentSchema,
    withoutHooks(main.value),
    sets.length === 0 ? [] : ['context', 'hooks'],
  )
  report(problems.map(pointToLlm), { file: main, path: [], findings })
  const document = value ?? withoutFaults(agentSchema, main.value, problems, { name: 'unnamed' })
  return document === undefined ? { main } : { main, document }
}

/** Hooks stood here before version 1.9: `loadHooks` says so. */
function withoutHooks(value: unknown): unknown {
  if (!isMap(value)) return value
  const { lifecycle_hooks: _, hooks: __, ...rest } = value
  return rest
}

function isOfMainFile({ path: [key, ...inner] }: SetValue): boolean {
  return key !== 'context' && key !== 'hooks' && (key !== 'tools' || inner.length === 0)
}

/** `model: gpt-4o` at the top of the file is a frequent mistake. */
function pointToLlm(problem: ShapeProblem): ShapeProblem {
  const isSetting = problem.unknownKey && KNOWN_KEYS.includes(String(problem.path[0]))
  return isSetting ? { ...problem, hint: 'It belongs under "llm:".' } : problem
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

/** Reads `llm:`. A key that nobody knows is a parameter of the API; one that looks like a mistyped known one is pointed out. */
export function readLlm(value: unknown, spot: Spot): LlmSettings | undefined {
  const { file, path, findings } = spot
  if (value === undefined || value === null) {
    const message = value === null ? '"llm" is empty.' : '"llm" is missing.'
    findings.error(file.locate(path, { key: true }), message, 'Write llm: { model: gpt-4o }.')
    return undefined
  }
  const parsed = safeParseLlm(value)
  if (!parsed.ok) report(parsed.problems, spot)
  if (isMap(value)) {
    for (const key of Object.keys(value)) checkName(inside(spot, key), key)
    checkNumbers(value, spot)
  }
  return parsed.ok ? parsed.llm : undefined
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
    if (typeof value !== 'number') wrong(inside(spot, name), `must be a number, got ${JSON.stringify(value)}`)
    else if (name === 'temperature' && !(value >= 0 && value <= 2))
      report([{ path: name, message: 'most servers take numbers from 0 to 2' }], spot, spot.findings.warn)
  }
}

const NOTHING_UNDER_IT =
  'policy: nothing is under it, so the defaults hold: a person is asked before what is destructive, and interactive tools are refused.'
const WRITE_A_RULE = 'Write policy: {} if that is what you want, or remove the key to allow every effect.'

/** Reads `policy:`. Without anything under it the defaults of all rules hold. A rule with a name nobody knows is an error: it would protect nothing. */
export function readPolicy(value: unknown, spot: Spot): Policy | undefined {
  if (value === undefined) return undefined
  const { file, path, findings } = spot
  if (value === null) findings.warn(file.locate(path, { key: true }), NOTHING_UNDER_IT, WRITE_A_RULE)
  const parsed = safeParsePolicy(value ?? {})
  if (parsed.ok) return parsed.policy
  report(parsed.problems, { ...spot, findings: { ...findings, unknownKey: findings.error } })
  return undefined
}

/** Reports consent to a tool that is not there. Where a tool could not be read, its name may be the one that is meant. */
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
