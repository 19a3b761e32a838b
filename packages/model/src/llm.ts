import * as z from 'zod/mini'
import { toDotPath } from 'zod/v4/core'
import { timeInWords } from './errors.js'
import { type Fields, fieldsOf, isObject } from './response.js'

const text = z.string().check(z.minLength(1))

const TIME = /^\d+(\.\d+)?(ms|s|m|h)$/
const A_TIME = 'must be a time such as 90s, 15m, 6h, or milliseconds'

/** In capitals, because a key never is. Never an address, nor what a command needs to start. */
const VARIABLE = /^(?!PATH$|HOME$|.*_URL$|.*[A-Z\d]{20})[A-Z_][A-Z\d_]*$/
const A_VARIABLE = 'must be the name of a variable, in capitals'

function setting<Schema extends z.ZodMiniType>(schema: Schema, description: string) {
  return z.optional(schema.check(z.describe(description)))
}

/** A mapping with these keys and no others. */
export function keysOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const unknownKey = `Unknown key. Known: ${Object.keys(shape).join(', ')}.`
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKey : undefined),
  })
}

/** Exported for its JSON Schema; `safeParseLlm` is what reads a value. */
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
        text.check(z.regex(VARIABLE, A_VARIABLE)),
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
        keysOf({
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

/** The settings, or every problem. */
type ParsedLlm = { ok: true; llm: LlmSettings } | { ok: false; problems: ValueProblem[] }

/** Checks the `llm` block of parsed YAML. Unknown keys are parameters of the API and pass through. */
export function safeParseLlm(input: unknown): ParsedLlm {
  const parsed = llmSchema.safeParse(input, { error: mustBe, reportInput: true })
  const llm = fieldsOf(input)
  const problems = [
    ...(parsed.success ? [] : problemsOf(parsed.error, hintFor)),
    ...forbiddenKeys(llm),
    ...headerProblems(llm.headers),
    ...baseUrlProblems(llm.base_url),
    ...(isObject(input) ? missingSettings(llm) : []),
    ...misplacedSettings(llm),
  ]
  if (!parsed.success || problems.length > 0) return { ok: false, problems }
  return { ok: true, llm: settingsOf(parsed.data) }
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

/** A mistake in what a person wrote. */
export interface ValueProblem {
  /** Relative to the parsed value: `base_url`, `[1].content`. */
  readonly path: string
  /** What is wrong, as a sentence without its place. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string | undefined
  /** The key is not allowed, whatever its value. Show the key only: the value may be a secret. */
  readonly misplacedKey?: true
}

const KINDS: Record<string, string> = {
  string: 'a string',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** The error map: says what a value must be. */
export function mustBe(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'too_small' && issue.origin !== 'string' && issue.origin !== 'array')
    return `must be at least ${issue.minimum}`
  return 'must not be empty'
}

/** A value there may be a key that stands in the wrong place. */
const SECRET_VALUE = /^(api_key_env|headers)/

/** The problems of a value that was parsed with `reportInput`, each with the value found. */
export function problemsOf(
  { issues }: z.core.$ZodError,
  hintFor: (path: string, found: unknown) => string | undefined,
): ValueProblem[] {
  return issues.flatMap((issue): ValueProblem[] => {
    const path = toDotPath(issue.path)
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({ path: `${path}.${key}`, message: issue.message }))
    const isShown = issue.code !== 'custom' && !SECRET_VALUE.test(path)
    const message = isShown ? `${issue.message}${show(issue.input)}.` : issue.message
    return [{ path, message, hint: hintFor(path, issue.input) }]
  })
}

function show(value: unknown): string {
  if (value === '' || (Array.isArray(value) && value.length === 0)) return ''
  if (value === null || value === undefined) return ', got nothing'
  if (Array.isArray(value)) return ', got a list'
  if (typeof value === 'object') return ', got a mapping'
  return `, got ${typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)}`
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

function missingSettings(llm: Fields): ValueProblem[] {
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

function misplacedSettings(llm: Fields): ValueProblem[] {
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

function hintFor(path: string, found: unknown): string | undefined {
  if (path === '') return `Write llm: { model: ${typeof found === 'string' ? found : 'gpt-4o'} }.`
  if (path === 'api' && found === 'messages') return "For Anthropic's Messages API write provider: anthropic."
  if (path === 'api') return 'Write api: responses, or leave it out for chat.'
  if (path === 'retry') return 'Write retry: { max_wait: 6h }.'
  if (path === 'api_key_env')
    return 'Write the name, such as api_key_env: GROQ_API_KEY, and put the key into .env under that name.'
  if (path === 'provider' && found === 'ai-sdk')
    return 'There is no ai-sdk. In a program use fromAiSdk(model); here use provider: command.'
  if (path === 'provider' && found === 'openai-responses') return 'Write api: responses under llm.'
  if (path === 'provider' && /^(ant|claude)/i.test(String(found))) return 'Write provider: anthropic.'
  if (path === 'provider')
    return 'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.'
  const example = Object.values(NEEDS)
    .flat()
    .find(([key]) => key === path)?.[1]
  return example && `For example ${path}: ${example}.`
}

const SENT_WHOLE = 'cannot be set. The conversation is in the journal and is sent whole.'

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=…, or into the environment.'

/** Keys that look like parameters and must not be sent as such. */
const FORBIDDEN: readonly { key: RegExp; message: string; hint?: string }[] = [
  {
    key: /^(([a-z]+[_-]?)?api[_-]?)?key$|^authorization$/i,
    message: 'An API key must not be written here.',
    hint: KEY_HINT,
  },
  { key: /^(extra|default)_headers$/, message: 'Is called headers here.', hint: KEY_HINT },
  { key: /^extra_body$/, message: 'Is not needed.', hint: 'Write its contents directly under llm:.' },
  { key: /^(messages|input|system|tools)$/, message: 'Cannot be set: it is filled in for every request.' },
  { key: /^n$/, message: 'Cannot be set: one answer is asked for.' },
  { key: /^(previous_response_id|conversation|background)$/, message: SENT_WHOLE },
]

function forbiddenKeys(llm: Fields): ValueProblem[] {
  return Object.keys(llm).flatMap((path) => {
    const isStored = path === 'store' && llm.store === true && llm.api === 'responses'
    if (isStored) return [{ path, message: SENT_WHOLE }]
    const forbidden = FORBIDDEN.find(({ key }) => key.test(path))
    return forbidden ? [{ path, message: forbidden.message, hint: forbidden.hint, misplacedKey: true }] : []
  })
}

const SECRET_HEADER =
  /^cookie$|(^|[-_])(api[-_]?key|key|auth(entication|orization)?|token|jwt|secret|password|credentials?)$/i
/** What says who asks, whatever the header is called. */
const SECRET_HEADER_VALUE = /^\s*(bearer|basic)\s/i
/** What the client, the connection or the engine sets. */
const OWN_HEADER =
  /^(host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|user-agent|accept|accept-encoding|content-.*|x-stainless-.*|anthropic-version)$/i

function headerProblems(headers: unknown): ValueProblem[] {
  return Object.entries(fieldsOf(headers)).flatMap(([name, value]): ValueProblem[] => {
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

function baseUrlProblems(baseUrl: unknown): ValueProblem[] {
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
