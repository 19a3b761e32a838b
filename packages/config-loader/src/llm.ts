import { nearestNames } from '@delta/executor'
import { LLM_KEYS, type LlmSettings, parseLlm } from '@delta/model'
import type { Findings } from './findings.js'
import { reportForeign } from './report.js'
import type { YamlFile } from './yaml-file.js'

/** Parameters that servers of chat completions are known to take. Every other one is passed on just the same. */
export const API_PARAMETERS: readonly string[] = [
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

/** What other tools call settings of ours. */
const OTHER_NAMES: Record<string, string> = {
  model_name: 'model',
  model_id: 'model',
  api_base: 'base_url',
  endpoint: 'base_url',
  url: 'base_url',
  max_retries: 'max_attempts',
  retries: 'max_attempts',
  timeout_seconds: 'timeout_ms',
}

/**
 * Reads `llm:`. A key that nobody knows is a parameter of the API; one that looks like a mistyped known one is pointed out,
 * and so is what other tools call one of ours.
 */
export function readLlm(value: unknown, file: YamlFile, findings: Findings): LlmSettings | undefined {
  const parsed = parseLlm(value ?? {})
  if (!parsed.ok) reportForeign(parsed.problems, file, ['llm'], findings.error)
  if (typeof value === 'object' && value !== null) {
    for (const key of Object.keys(value)) checkName(key, file, findings)
  }
  return parsed.ok ? parsed.llm : undefined
}

function checkName(key: string, file: YamlFile, findings: Findings): void {
  const known = [...LLM_KEYS, ...API_PARAMETERS]
  if (known.includes(key) || key.startsWith('x-')) return
  const meant = Object.hasOwn(OTHER_NAMES, key) ? OTHER_NAMES[key] : nearestNames(key, known)[0]
  if (meant === undefined) return
  findings.unknownKey(
    file.locate(['llm', key], { key: true }),
    `llm: unknown key "${key}"; it would be sent to the API as it is.`,
    `Did you mean "${meant}"?`,
  )
}
