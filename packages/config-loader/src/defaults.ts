import { DEFAULT_SETTINGS, DEFAULT_TOOL_TIMEOUT_MS } from '@delta/executor'
import { LLM_DEFAULTS } from '@delta/model'
import { AGENT_DEFAULTS } from './agent.js'
import type { CompleteParts } from './parts/parts.js'

/** Where the value stands in a configuration, as in `llm.base_url`, and the value. */
type DefaultValue = [path: string, value: unknown]

/** Every value that counts unless a file says something else; those of all tools, hooks and sources once, under `*`. */
export function defaultsOf(parts: CompleteParts): DefaultValue[] {
  const { llm, prompt, tools, context } = parts
  const hasTools = tools.size > 0
  const hasFiles = context.manifest.sources.some(({ type }) => type !== 'journal')
  return [
    ...(prompt === undefined ? [] : [['system_prompt', prompt.name] satisfies DefaultValue]),
    ['max_iterations', AGENT_DEFAULTS.maxIterations],
    ['tool_concurrency', AGENT_DEFAULTS.toolConcurrency],
    ['max_tool_calls', AGENT_DEFAULTS.maxToolCalls],
    ['accept_empty', AGENT_DEFAULTS.acceptEmpty],
    ['llm.provider', llm.provider],
    ...when(llm.provider === 'openai', [
      ['llm.base_url', LLM_DEFAULTS.baseUrl],
      ['llm.timeout_ms', LLM_DEFAULTS.timeoutMs],
      ['llm.stream', LLM_DEFAULTS.stream],
    ]),
    ...when(llm.retry === undefined, [['llm.max_attempts', LLM_DEFAULTS.maxAttempts]]),
    ['llm.strict_tools', LLM_DEFAULTS.strictTools],
    ...policyDefaults(parts),
    ...when(hasTools, [
      ['tools.*.timeout_ms', DEFAULT_TOOL_TIMEOUT_MS],
      ['tools.*.on_interrupt', 'report'],
      ['tools.*.critical', DEFAULT_SETTINGS.critical],
      ['tools.*.output', outputDefaults],
    ]),
    ...when(hasFiles, [['context.sources[*].on_missing', 'error']]),
  ]
}

const { maxChars, keep, maxBytes } = DEFAULT_SETTINGS.output
const outputDefaults = { max_chars: maxChars, keep, max_bytes: maxBytes }

function when(condition: boolean, values: DefaultValue[]): DefaultValue[] {
  return condition ? values : []
}

/** Rules count only where a policy is given. */
function policyDefaults({ policy }: CompleteParts): DefaultValue[] {
  if (policy === undefined) return []
  const rules = Object.entries(policy.rules ?? {}).map(
    ([name, value]): DefaultValue => [
      `policy.${name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      value,
    ],
  )
  return [...rules, ['policy.on_confirmation', policy.onConfirmation]]
}
