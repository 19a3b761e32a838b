import type * as z from 'zod/mini'
import { WORDS_HINT } from './llm-schema.js'

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
export function problemOfIssue(issue: z.core.$ZodIssue, input: object): SettingsProblem {
  const path = issue.path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
  const found = issue.path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], input)
  const hint = issue.path.length === 1 ? hintFor(String(issue.path[0]), found) : undefined
  return {
    path: path.replace(/^\./, ''),
    message: `${issue.message}, not ${show(found)}.`,
    ...(hint === undefined ? {} : { hint }),
  }
}

function hintFor(key: string, found: unknown): string | undefined {
  if (key === 'model') return MODEL_HINT
  if (key === 'command') return WORDS_HINT
  if (key !== 'provider' || typeof found !== 'string') return undefined
  return 'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.'
}

/** What a schema cannot find: keys that must not be here, addresses that cannot work, settings that a provider lacks. */
export function furtherProblems(llm: Record<string, unknown>): SettingsProblem[] {
  return [...forbiddenKeys(llm), ...baseUrlProblems(llm.base_url), ...providerProblems(llm)]
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
  { key: /^stream$/, message: 'Cannot be set: answers are streamed when something listens.' },
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
export function show(value: unknown): string {
  if (value === null) return 'nothing'
  if (value === '') return 'an empty text'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a map'
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 60)) : String(value)
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}
