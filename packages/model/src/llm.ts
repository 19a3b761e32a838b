import * as z from 'zod/mini'
import { timeInWords } from './errors.js'
import { isObject } from './response.js'

const PROVIDERS = ['openai', 'command', 'script', 'replay'] as const

const WORDS_HINT = 'One element for each word: [python3, model.py].'

/** A number with its unit. */
const TIME = /^\d+(\.\d+)?(ms|s|m|h)$/
const NOT_A_TIME = 'is not a time. Write 90s, 15m, 6h or milliseconds.'

/** Exported for its JSON Schema; `parseLlm` is what reads a value. */
export const llmSchema = z
  .looseObject({
    provider: z
      ._default(z.enum(PROVIDERS, `Must be one of ${PROVIDERS.join(', ')}`), 'openai')
      .check(z.describe('Who answers. Every server that speaks chat completions is openai with a base_url.')),
    model: z.optional(text('Must be the name of a model').check(z.describe('As the API calls the model.'))),
    base_url: z.optional(
      text('Must be a URL').check(
        z.describe('Where /chat/completions is appended, usually …/v1. Default: https://api.openai.com/v1'),
      ),
    ),
    script: z.optional(
      text('Must be the path of a YAML file').check(
        z.describe('With provider: script, the file with the turns.'),
      ),
    ),
    command: z.optional(
      z
        .array(z.string('Must be text'), 'Must be a list of words')
        .check(
          z.minLength(1, 'Must name a program'),
          z.describe('With provider: command, the program that answers, and its arguments.'),
        ),
    ),
    timeout_ms: z.optional(
      wholeNumber(0, 'Must be a whole number of milliseconds, 0 for no limit').check(
        z.describe(
          'How long the server may be silent, by default 600000; with provider: command, how long one answer may take, by default without end. 0 is no limit.',
        ),
      ),
    ),
    max_attempts: z.optional(
      wholeNumber(1, 'Must be a whole number, at least 1').check(
        z.describe('How often a request is tried in all. Default: 5'),
      ),
    ),
    retry: z.optional(
      z
        .looseObject(
          {
            max_wait: z
              .union(
                [
                  z.int(NOT_A_TIME).check(z.gte(0, NOT_A_TIME)),
                  z.string(NOT_A_TIME).check(z.regex(TIME, NOT_A_TIME)),
                ],
                NOT_A_TIME,
              )
              .check(
                z.describe(
                  'How long one request is tried again, as in 90s, 15m or 6h, or in milliseconds; a Retry-After is obeyed while it fits. Without max_attempts there is no other limit then.',
                ),
              ),
          },
          'Must be a mapping with max_wait',
        )
        .check(z.describe('How patiently a request is tried again. Without it max_attempts decides.')),
    ),
    stream: z.optional(
      z
        .boolean('Must be true or false')
        .check(
          z.describe(
            'Whether an answer is asked for as a stream; false for a server that cannot. Other providers do not stream. Default: true',
          ),
        ),
    ),
    strict_tools: z.optional(
      z
        .boolean('Must be true or false')
        .check(
          z.describe(
            'true: tools are offered in strict mode, in which a server keeps the model to their parameters; what is optional may be null. Default: false',
          ),
        ),
    ),
  })
  .check(
    z.describe(
      'Who answers, and how. Every other key is a parameter of the API, such as temperature or max_tokens, and is sent as it is.',
    ),
  )

/** The keys of `llm` that are settings of ours; every other one is a parameter of the API. */
export const LLM_KEYS: readonly string[] = Object.keys(llmSchema.shape)

function text(message: string) {
  return z.string(message).check(z.minLength(1, message))
}

function wholeNumber(least: number, message: string) {
  return z.int(message).check(z.gte(least, message))
}

/** Who answers: a server, a command, a script, or a recorded run. */
export type Provider = 'openai' | 'command' | 'script' | 'replay'

/** The `llm` block of an agent, checked. */
export interface LlmSettings {
  readonly provider: Provider
  /** As the API calls it. */
  readonly model?: string
  /** Ends where `/chat/completions` is appended; usually `/v1`. Never holds credentials. */
  readonly baseUrl?: string
  /** For `script`: path of the file with the turns. For `replay`: of the recording. */
  readonly script?: string
  /** For `command`: the program that reads a request on stdin and prints the answer. */
  readonly command?: readonly string[]
  /** Every other key, passed to the API as it is. */
  readonly parameters: Readonly<Record<string, unknown>>
  /** How long the server may be silent; 0 is no limit. */
  readonly timeoutMs?: number
  /** Attempts in all, the first included. */
  readonly maxAttempts?: number
  /** How long one request is tried again; there is no limit on attempts then, unless `maxAttempts` is given, too. */
  readonly retry?: { readonly maxWaitMs: number }
  /** Answers of a server are asked for as a stream. */
  readonly stream?: boolean
  /** Tools are offered in strict mode, with what is optional as nullable. */
  readonly strictTools?: boolean
}

/** The settings, or every problem; see `parseLlm`. */
export type ParsedLlm = { ok: true; llm: LlmSettings } | { ok: false; problems: SettingsProblem[] }

type Llm = z.infer<typeof llmSchema>

/**
 * Checks the `llm` block. Keys it does not know are parameters of the API and pass through.
 *
 * @param input - Parsed YAML. Old names of keys are the caller's business.
 * @returns The settings, or every problem.
 */
export function parseLlm(input: unknown): ParsedLlm {
  if (!isObject(input)) {
    const hint =
      typeof input === 'string' ? `Write llm: { model: ${input} }.` : 'Write llm: { model: gpt-4o }.'
    return {
      ok: false,
      problems: [{ path: '', message: `Must be a map of settings, not ${show(input)}.`, hint }],
    }
  }
  const parsed = llmSchema.safeParse(input)
  const issues = parsed.success ? [] : parsed.error.issues
  const problems = [...issues.map((issue) => problemOfIssue(issue, input)), ...furtherProblems(input)]
  if (!parsed.success || problems.length > 0) return { ok: false, problems }
  return { ok: true, llm: settingsOf(parsed.data) }
}

function settingsOf(llm: Llm): LlmSettings {
  const {
    provider,
    model,
    base_url,
    script,
    command,
    timeout_ms,
    max_attempts,
    retry,
    stream,
    strict_tools,
    ...parameters
  } = llm
  return {
    provider,
    ...(model === undefined ? {} : { model }),
    ...(base_url === undefined ? {} : { baseUrl: base_url.replace(/\/+$/, '') }),
    ...(script === undefined ? {} : { script }),
    ...(command === undefined ? {} : { command }),
    parameters: Object.fromEntries(Object.entries(parameters).filter(([key]) => !key.startsWith('x-'))),
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(max_attempts === undefined ? {} : { maxAttempts: max_attempts }),
    ...(retry === undefined ? {} : { retry: { maxWaitMs: millisecondsOf(retry.max_wait) } }),
    ...(stream === undefined ? {} : { stream }),
    ...(strict_tools === undefined ? {} : { strictTools: strict_tools }),
  }
}

function millisecondsOf(time: number | string): number {
  return typeof time === 'number' ? time : timeInWords(time)
}

/** Something a person wrote that cannot be used. `path` is relative to what was parsed: `base_url`, `[1].content`. */
export interface SettingsProblem {
  readonly path: string
  /** What is wrong, as a sentence without its place. */
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
  /** The key itself must not be here, whatever its value: show the key only, for the value may be a secret. */
  readonly misplacedKey?: true
}

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=… or OPENAI_API_KEY=…, or into the environment.'

const MODEL_HINT = 'For example model: gpt-4o.'

/** A problem that the schema found, with the value that is there instead. */
function problemOfIssue(issue: z.core.$ZodIssue, input: object): SettingsProblem {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  const found = issue.path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], input)
  const hint = issue.path.length === 1 ? hintFor(String(issue.path[0]), found) : undefined
  const message =
    issue.message === NOT_A_TIME ? `${show(found)} ${NOT_A_TIME}` : `${issue.message}, not ${show(found)}.`
  return { path, message, ...(hint === undefined ? {} : { hint }) }
}

function hintFor(key: string, found: unknown): string | undefined {
  if (key === 'model') return MODEL_HINT
  if (key === 'command') return WORDS_HINT
  if (key !== 'provider' || typeof found !== 'string') return undefined
  return 'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.'
}

/** What a schema cannot find: keys that must not be here, addresses that cannot work, settings that a provider lacks. */
function furtherProblems(llm: Record<string, unknown>): SettingsProblem[] {
  return [
    ...forbiddenKeys(llm),
    ...baseUrlProblems(llm.base_url),
    ...retryProblems(llm.retry),
    ...providerProblems(llm),
  ]
}

/** What looks like a parameter and must not be sent as one. */
const FORBIDDEN: readonly { key: RegExp; message: string; hint?: string }[] = [
  {
    key: /^(([a-z]+[_-]?)?api[_-]?)?key$|^authorization$/i,
    message: 'An API key must not be written here.',
    hint: KEY_HINT,
  },
  {
    key: /^((extra|default)_)?headers$/,
    message: 'Cannot be set: requests carry no custom headers.',
    hint: `${KEY_HINT} For a server that needs other headers use provider: command.`,
  },
  { key: /^extra_body$/, message: 'Is not needed.', hint: 'Write its contents directly under llm:.' },
  { key: /^(messages|tools)$/, message: 'Cannot be set: it is filled in for every request.' },
  { key: /^n$/, message: 'Cannot be set: one answer is used.' },
]

function forbiddenKeys(llm: object): SettingsProblem[] {
  return Object.keys(llm).flatMap((path) => {
    const forbidden = FORBIDDEN.find(({ key }) => key.test(path))
    if (forbidden === undefined) return []
    const { key: _, ...problem } = forbidden
    return [{ path, ...problem, misplacedKey: true }]
  })
}

/** A value that is not text was reported before. */
function baseUrlProblems(baseUrl: unknown): SettingsProblem[] {
  if (typeof baseUrl !== 'string' || baseUrl === '') return []
  const problem = (message: string, hint: string) => [{ path: 'base_url', message, hint }]
  const url = parseUrl(baseUrl)
  if (!url || !/^https?:$/.test(url.protocol)) {
    return problem('Must be an http or https URL.', 'For example http://localhost:11434/v1.')
  }
  const secretParameter = [...url.searchParams.keys()].some((name) => /key|token|secret/i.test(name))
  if (url.username !== '' || url.password !== '' || secretParameter) {
    return problem('Credentials must not be written into the URL.', KEY_HINT)
  }
  if (/\/chat\/completions\/?$/.test(url.pathname)) {
    return problem('Must end before /chat/completions, which is appended.', 'Usually it ends in /v1.')
  }
  return []
}

function retryProblems(retry: unknown): SettingsProblem[] {
  if (!isObject(retry)) return []
  const unknown = Object.keys(retry).filter((key) => key !== 'max_wait' && !key.startsWith('x-'))
  const hint = 'max_attempts stands directly under llm:.'
  return unknown.map((key) => ({ path: `retry.${key}`, message: 'Unknown key. Known: max_wait.', hint }))
}

/** Settings that the provider needs. One that is present but wrong was reported before. */
function providerProblems({
  provider = 'openai',
  model,
  script,
  command,
}: Record<string, unknown>): SettingsProblem[] {
  if (provider === 'openai' && model === undefined) {
    const message = 'The provider openai needs the name of a model.'
    return [{ path: 'model', message, hint: MODEL_HINT }]
  }
  if (provider === 'script' && script === undefined) {
    const message = 'The provider script needs a file with the turns.'
    return [{ path: 'script', message, hint: 'script: script.yaml' }]
  }
  if (provider === 'replay' && script === undefined) {
    const message = 'The provider replay needs the directory of a recorded run.'
    return [{ path: 'script', message, hint: 'script: ../workspaces/W001/.delta/20261120_093000_a1b2c3' }]
  }
  if (provider === 'command' && command === undefined) {
    return [{ path: 'command', message: 'The provider command needs a program.', hint: WORDS_HINT }]
  }
  return []
}

/** A value as it is named in a message. */
function show(value: unknown): string {
  if (value === null || value === undefined) return 'nothing'
  if (value === '') return 'an empty text'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
