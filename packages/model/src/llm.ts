import * as z from 'zod/mini'

export type Provider = 'openai' | 'command' | 'script' | 'replay'

/** The `llm` block of an agent, checked. */
export interface LlmSettings {
  readonly provider: Provider
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
}

/** Something a person wrote that cannot be used. `path` is relative to what was parsed: `base_url`, `[1].content`. */
export interface SettingsProblem {
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export type ParsedLlm = { ok: true; llm: LlmSettings } | { ok: false; problems: SettingsProblem[] }

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=… or OPENAI_API_KEY=…, or into the environment.'

const PROVIDERS = ['openai', 'command', 'script', 'replay'] as const

const llmSchema = z.looseObject({
  provider: z._default(z.enum(PROVIDERS, `Must be one of ${PROVIDERS.join(', ')}.`), 'openai'),
  model: z.optional(
    z.string('Must be text: the name of a model.').check(z.minLength(1, 'Must not be empty.')),
  ),
  base_url: z.optional(z.string('Must be text: a URL.')),
  script: z.optional(z.string('Must be text: the path of a YAML file with the turns.')),
  command: z.optional(
    z
      .array(z.string('Must be text.'), 'Must be a list of words: [python3, model.py].')
      .check(z.minLength(1, 'Must name a program.')),
  ),
  timeout_ms: z.optional(wholeNumber(0, 'Must be a whole number of milliseconds; 0 is no limit.')),
  max_attempts: z.optional(wholeNumber(1, 'Must be a whole number, at least 1.')),
})

type Llm = z.infer<typeof llmSchema>

/**
 * Checks the `llm` block. Keys it does not know are parameters of the API and pass through.
 *
 * @param input - Parsed YAML. Old names of keys are the caller's business.
 * @returns The settings, or every problem.
 */
export function parseLlm(input: unknown): ParsedLlm {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const hint =
      typeof input === 'string' ? `Write llm: { model: ${input} }.` : 'Write llm: { model: gpt-4o }.'
    return { ok: false, problems: [{ path: '', message: 'llm must be a mapping.', hint }] }
  }
  const parsed = llmSchema.safeParse(input)
  const problems = [
    ...(parsed.success ? [] : parsed.error.issues.map(problemOfIssue)),
    ...forbiddenKeys(input),
    ...(parsed.success ? [...baseUrlProblems(parsed.data.base_url), ...providerProblems(parsed.data)] : []),
  ]
  if (!parsed.success || problems.length > 0) return { ok: false, problems }
  return { ok: true, llm: settingsOf(parsed.data) }
}

function settingsOf(llm: Llm): LlmSettings {
  const { provider, model, base_url, script, command, timeout_ms, max_attempts, ...parameters } = llm
  return {
    provider,
    ...(model === undefined ? {} : { model }),
    ...(base_url === undefined ? {} : { baseUrl: base_url.replace(/\/+$/, '') }),
    ...(script === undefined ? {} : { script }),
    ...(command === undefined ? {} : { command }),
    parameters,
    ...(timeout_ms === undefined ? {} : { timeoutMs: timeout_ms }),
    ...(max_attempts === undefined ? {} : { maxAttempts: max_attempts }),
  }
}

function problemOfIssue(issue: z.core.$ZodIssue): SettingsProblem {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
  return { path: path.replace(/^\./, ''), message: issue.message }
}

function forbiddenKeys(llm: object): SettingsProblem[] {
  return Object.keys(llm).flatMap((key) => {
    if (/^((openai|delta)[_-]?)?api[_-]?key$|^authorization$/i.test(key)) {
      return [{ path: key, message: 'An API key must not be written here.', hint: KEY_HINT }]
    }
    if (key === 'messages' || key === 'tools') {
      return [{ path: key, message: 'Is filled with every request and cannot be set.' }]
    }
    if (key === 'stream') {
      return [{ path: key, message: 'Cannot be set: answers are streamed when something listens.' }]
    }
    if (key === 'n') return [{ path: key, message: 'Cannot be set: one answer is used.' }]
    return []
  })
}

function baseUrlProblems(baseUrl: string | undefined): SettingsProblem[] {
  if (baseUrl === undefined) return []
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

function providerProblems(llm: Llm): SettingsProblem[] {
  if (llm.provider === 'openai' && llm.model === undefined) {
    return [
      {
        path: 'model',
        message: 'The provider openai needs the name of a model.',
        hint: 'For example model: gpt-4o.',
      },
    ]
  }
  if (llm.provider === 'script' && llm.script === undefined) {
    return [
      {
        path: 'script',
        message: 'The provider script needs a file with the turns.',
        hint: 'script: script.yaml',
      },
    ]
  }
  if (llm.provider === 'command' && llm.command === undefined) {
    return [
      {
        path: 'command',
        message: 'The provider command needs a program.',
        hint: 'command: [python3, model.py]',
      },
    ]
  }
  return []
}

function wholeNumber(least: number, message: string) {
  return z.number(message).check(z.refine((value) => Number.isSafeInteger(value) && value >= least, message))
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
