import * as z from 'zod/mini'
import { timeInWords } from './errors.js'
import { type Fields, fieldsOf } from './response.js'

const text = z.string().check(z.minLength(1))

const TIME = /^\d+(\.\d+)?(ms|s|m|h)$/
const A_TIME = 'a time such as 90s, 15m, 6h, or milliseconds'

/** In capitals, because a key never is. Never an address, nor what a command needs to start. */
/** Not `DELTA_CREDENTIALS`, which holds every key, nor an address, nor what looks like a key itself. */
const VARIABLE = /^(?!PATH$|HOME$|DELTA_(?!API_KEY$)|.*_URL$|.*[A-Z\d]{20})[A-Z_][A-Z\d_]*$/
const A_VARIABLE = 'must be the name of a variable, in capitals'

function setting<Schema extends z.ZodMiniType>(schema: Schema, description: string) {
  return z.optional(schema.check(z.describe(description)))
}

/**
 * The settings and their types. A message completes the sentence "must be …", but for that of a refinement. What no schema says,
 * `findLlmProblems` says; `llmSettings` reads the parsed value.
 */
export const llmSchema = /* @__PURE__ */ z.lazy(() =>
  z
    .looseObject({
      provider: z
        ._default(z.enum(['openai', 'anthropic', 'command', 'script', 'replay']), 'openai')
        .check(
          z.describe('The kind of model. A server that speaks chat completions is openai with a base_url.'),
        ),
      api: setting(
        z.enum(['chat', 'responses']),
        "Which of OpenAI's APIs is spoken (provider openai): Chat Completions or Responses. Default: chat",
      ),
      model: setting(text, "The API's name of the model."),
      base_url: setting(
        text,
        "URL to which the API's path is appended, such as /chat/completions; usually …/v1. Default: the provider's own",
      ),
      api_key_env: setting(
        text.check(
          z.refine((name) => VARIABLE.test(name), A_VARIABLE), // no word of the value: it may be a key
          z.meta({ pattern: VARIABLE.source }),
        ),
        'Name of the variable that holds the key, in .env or the environment. Default: DELTA_API_KEY, then OPENAI_API_KEY or ANTHROPIC_API_KEY, by provider',
      ),
      headers: setting(
        z.record(z.string(), z.string()),
        'Further headers of every request, such as anthropic-beta. Never a key. Provider openai and anthropic.',
      ),
      script: setting(
        text,
        'The file with the turns (provider script), or the recorded run (provider replay).',
      ),
      command: setting(
        z.array(z.string()).check(z.minLength(1)),
        'The program that answers, and its arguments (provider command).',
      ),
      timeout_ms: setting(
        z.int().check(z.gte(0)),
        'Idle timeout of a server, by default 600000. With provider command: the time limit of one answer, by default none. 0: no limit.',
      ),
      max_attempts: setting(z.int().check(z.gte(1)), 'Total attempts per request. Default: 5'),
      retry: setting(
        z.strictObject({
          max_wait: z
            .union([z.int(A_TIME).check(z.gte(0, A_TIME)), z.string().check(z.regex(TIME, A_TIME))], A_TIME)
            .check(
              z.describe(
                'How long one request is retried: 90s, 15m, 6h, or milliseconds. Retry-After is obeyed while it fits. Without max_attempts there is no other limit.',
              ),
            ),
        }),
        'How long a failed request is retried. Without it max_attempts decides.',
      ),
      stream: setting(
        z.boolean(),
        'Whether the server streams its answers. Write false for a server that cannot. Default: true',
      ),
      strict_tools: setting(
        z.boolean(),
        'Whether tools are offered in strict mode: the server keeps the model to their parameters, and optional ones may be null. Default: false',
      ),
    })
    .check(
      z.describe(
        'The model and its settings. Every other key, such as temperature, is sent to the API unchanged.',
      ),
    ),
)

/** The keys of `llm` that are settings of ours; every other one is a parameter of the API. */
export const llmKeys = (): readonly string[] => Object.keys(llmSchema._zod.innerType.shape)

type LlmProvider = z.infer<typeof llmSchema>['provider']
type AllSettings = ReturnType<typeof settingsOf>

/** The `llm` block of an agent, checked. What each setting means, `llmSchema` says. */
export type LlmSettings = Readonly<
  Partial<AllSettings> &
    Pick<AllSettings, 'provider' | 'parameters'> & {
      /** `api_key_env` of the file, where an override replaced it: still a key that no command gets. */
      otherKeyEnv?: string
      /** True where an override chose another provider: what the agent's directory says without a provider's name is not for it. */
      isOtherProvider?: boolean
    }
>

/** The settings of a block that `llmSchema` parsed. */
export function llmSettings(data: z.infer<typeof llmSchema>): LlmSettings {
  return settingsOf(data)
}

/** Keys with `x-` are the author's own. */
function settingsOf(data: z.infer<typeof llmSchema>) {
  const settings = llmKeys()
  const parameters = Object.entries(data).filter(([key]) => !settings.includes(key) && !key.startsWith('x-'))
  return {
    provider: data.provider,
    model: data.model,
    api: data.api,
    baseUrl: data.base_url?.replace(/\/+$/, ''),
    apiKeyEnv: data.api_key_env,
    headers: data.headers,
    script: data.script,
    command: data.command,
    parameters: Object.fromEntries(parameters),
    timeoutMs: data.timeout_ms,
    maxAttempts: data.max_attempts,
    retry: data.retry && { maxWaitMs: timeInWords(data.retry.max_wait) },
    stream: data.stream,
    strictTools: data.strict_tools,
  }
}

/** A mistake in the `llm` block that its schema does not say. */
export interface LlmProblem {
  /** Relative to the block: `base_url`, `headers.authorization`. */
  readonly path: string
  /** What is wrong, as a sentence without its place. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The key is not allowed, whatever its value. Show the key only: the value may be a secret. */
  readonly misplacedKey?: true
}

/** Finds keys that are missing or do not belong there, headers and addresses that cannot work, and secrets in any of them. */
export function findLlmProblems(llm: Fields): LlmProblem[] {
  return [
    ...forbiddenKeys(llm),
    ...headerProblems(llm.headers),
    ...baseUrlProblems(llm.base_url),
    ...missingSettings(llm),
    ...misplacedSettings(llm),
  ]
}

/** What to write where the value of a setting does not fit; '' is the block itself. */
export const LLM_HINTS: Readonly<Record<string, string>> = {
  '': 'Write llm: { model: gpt-4o }.',
  api: "Write api: responses, or leave it out for chat. For Anthropic's Messages API write provider: anthropic.",
  api_key_env:
    'Write the name, such as api_key_env: GROQ_API_KEY, and put the key into .env under that name.',
  command: 'For example command: [python3, model.py].',
  provider:
    'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.',
  retry: 'Write retry: { max_wait: 6h }.',
}

/** The settings that each provider needs, and an example of each. */
const NEEDS: Readonly<Record<LlmProvider, readonly (readonly [key: string, example: string])[]>> = {
  openai: [['model', 'gpt-4o']],
  anthropic: [
    ['model', 'claude-sonnet-5'],
    ['max_tokens', '16000'],
  ],
  script: [['script', 'script.yaml']],
  replay: [['script', '../workspaces/W001/.delta/20261120_093000_a1b2c3']],
  command: [['command', '[python3, model.py]']],
}

function missingSettings(llm: Fields): LlmProblem[] {
  const { provider = 'openai' } = llm
  const missing = (NEEDS[provider as LlmProvider] ?? []).filter(([key]) => llm[key] === undefined)
  return missing.map(([path, example]) => {
    const message = `missing; the provider ${String(provider)} needs it.`
    const hint =
      path === 'max_tokens'
        ? `It is the most tokens that one answer may have. Write max_tokens: ${example}.`
        : `For example ${path}: ${example}.`
    return { path, message, hint }
  })
}

/** Settings that only some providers have. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  api: ['openai', 'replay'],
  headers: ['openai', 'anthropic', 'replay'],
}

function misplacedSettings(llm: Fields): LlmProblem[] {
  const provider = String(llm.provider ?? 'openai')
  const set = Object.entries(Object.hasOwn(NEEDS, provider) ? OWNERS : {}).filter(
    ([key]) => llm[key] !== undefined,
  )
  const misplaced = set.filter(([, owners]) => !owners.includes(provider))
  return misplaced.map(([path, owners]) => {
    const hint = `Remove it; it is for provider ${owners.join(' or ')}.`
    return { path, message: `has no effect with provider ${provider}.`, hint, misplacedKey: true }
  })
}

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=…, or into the environment.'

/** Where a key is usually written by mistake. */
const SECRET_KEY = /^(([a-z]+[_-]?)?api[_-]?)?key$|^authorization$|^(extra|default)_headers$/i
/** What the engine writes into every request: the journal has the whole conversation, and one answer is asked for. */
const OWN_KEY = /^(messages|input|system|tools|n|previous_response_id|conversation|background)$/

function forbiddenKeys(llm: Fields): LlmProblem[] {
  return Object.keys(llm).flatMap((path): LlmProblem[] => {
    if (SECRET_KEY.test(path)) {
      const isHeaders = path.endsWith('_headers')
      const message = isHeaders ? 'is called headers here.' : 'An API key must not be written here.'
      return [{ path, message, hint: KEY_HINT, misplacedKey: true }]
    }
    if (!OWN_KEY.test(path)) return []
    return [{ path, message: 'cannot be set: the engine fills it in for every request.', misplacedKey: true }]
  })
}

const SECRET_HEADER =
  /^cookie$|(^|[-_])(api[-_]?key|key|auth(entication|orization)?|token|jwt|secret|password|credentials?)$/i
/** What says who asks, whatever the header is called. */
const SECRET_HEADER_VALUE = /^\s*(bearer|basic)\s/i
/** What the client, the connection or the engine sets. */
const OWN_HEADER =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|user-agent|accept|accept-encoding|content-.*|x-stainless-.*|anthropic-version)$/i

function headerProblems(headers: unknown): LlmProblem[] {
  return Object.entries(fieldsOf(headers)).flatMap(([name, value]): LlmProblem[] => {
    const path = `headers.${name}`
    if (SECRET_HEADER.test(name) || SECRET_HEADER_VALUE.test(String(value)))
      return [{ path, message: 'keys do not belong in agent.yaml.', hint: HEADER_HINT, misplacedKey: true }]
    if (OWN_HEADER.test(name))
      return [{ path, message: 'cannot be set: the engine sets this header itself.', misplacedKey: true }]
    if (!/^[!#$%&'*+.^`|~\w-]+$/.test(name))
      return [{ path, message: 'is not the name of a header.', misplacedKey: true }]
    // a line end in a value would be a header of its own
    if (typeof value === 'string' && !/^[\t\x20-\x7e]*$/.test(value))
      return [{ path, message: 'must be one line of ASCII characters.' }]
    return []
  })
}

const HEADER_HINT = 'Put it into .env and name the variable in llm.api_key_env.'

function baseUrlProblems(baseUrl: unknown): LlmProblem[] {
  if (typeof baseUrl !== 'string' || baseUrl === '') return []
  const problem = (message: string, hint: string) => [{ path: 'base_url', message, hint }]
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) {
    return problem('must be an http or https URL.', 'For example http://localhost:11434/v1.')
  }
  const secretParameter = [...url.searchParams.keys()].some((name) => /key|token|secret/i.test(name))
  if (url.username !== '' || url.password !== '' || secretParameter) {
    return problem('Credentials must not be written into the URL.', KEY_HINT)
  }
  const [ending] = /\/(chat\/completions|responses|v1\/messages)(?=\/?$)/.exec(url.pathname) ?? []
  if (ending !== undefined)
    return problem(`must end before ${ending}, which is appended.`, 'Usually it ends in /v1.')
  return []
}
