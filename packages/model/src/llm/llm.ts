import type * as z from 'zod/mini'
import { isObject } from '../is-object.js'
import { furtherProblems, problemOfIssue, type SettingsProblem, show } from './llm-problems.js'
import { llmSchema } from './llm-schema.js'

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
    ...(strict_tools === undefined ? {} : { strictTools: strict_tools }),
  }
}
