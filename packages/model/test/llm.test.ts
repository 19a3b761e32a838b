import { expect, test } from 'vitest'
import { findLlmProblems, llmSchema, llmSettings } from '../src/internal.js'

// How the loader of agents words what the schema refuses: packages/config-loader/test/mistakes.test.ts.

const settings = (llm: unknown) => llmSettings(llmSchema.parse(llm))
const accepts = (llm: unknown) => llmSchema.safeParse(llm).success

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=…, or into the environment.'

test('our own keys become settings, keys with x- are the author’s own, and every other one is a parameter of the API', () => {
  const parameters = { temperature: 0.7, reasoning: { effort: 'high' }, stop: null }
  expect(settings({ model: 'gpt-4o', 'x-why': 'cheap', ...parameters })).toEqual({
    provider: 'openai',
    model: 'gpt-4o',
    parameters,
  })
  const headers = { 'anthropic-beta': 'context-1m', 'x-team': 'a b' }
  const ours = { api: 'responses', headers, api_key_env: 'GROQ_API_KEY', timeout_ms: 1000, max_attempts: 1 }
  expect(
    settings({ provider: 'openai', model: 'm', base_url: 'http://localhost:11434/v1/', ...ours }),
  ).toEqual({
    provider: 'openai',
    model: 'm',
    api: 'responses',
    headers,
    apiKeyEnv: 'GROQ_API_KEY',
    baseUrl: 'http://localhost:11434/v1',
    timeoutMs: 1000,
    maxAttempts: 1,
    parameters: {},
  })
})

test.each([
  { provider: 'script', script: 'script.yaml' },
  { provider: 'command', command: ['python3', 'model.py'] },
  { provider: 'replay', script: '../recorded' },
])('%j needs no model', (llm) => {
  expect(accepts(llm)).toBe(true)
  expect(findLlmProblems(llm)).toEqual([])
})

test.each([
  ...['api_key', 'apiKey', 'API_KEY', 'openai_api_key', 'openrouter_api_key', 'key', 'authorization'].map(
    (key) => [key, 'An API key must not be written here.', KEY_HINT],
  ),
  ...['extra_headers', 'default_headers'].map((key) => [key, 'is called headers here.', KEY_HINT]),
  ...['messages', 'input', 'system', 'tools', 'n', 'previous_response_id', 'conversation', 'background'].map(
    (key) => [key, 'cannot be set: the engine fills it in for every request.', undefined],
  ),
])('the key %s is refused, and its value is not repeated', (path = '', message, hint) => {
  const problems = findLlmProblems({ model: 'm', [path]: 'sk-1234567890' })
  expect(problems).toEqual([{ path, message, hint, misplacedKey: true }])
  expect(JSON.stringify(problems)).not.toContain('sk-')
})

const CREDENTIALS = 'Credentials must not be written into the URL.'
test.each([
  ['http://me:pw@host/v1', CREDENTIALS, KEY_HINT],
  ['https://sk-token@host/v1', CREDENTIALS, KEY_HINT],
  ['https://host/v1?api_key=sk-1', CREDENTIALS, KEY_HINT],
  ['localhost:11434', 'must be an http or https URL.', 'For example http://localhost:11434/v1.'],
  ['nonsense', 'must be an http or https URL.', 'For example http://localhost:11434/v1.'],
  [
    'http://h/v1/chat/completions',
    'must end before /chat/completions, which is appended.',
    'Usually it ends in /v1.',
  ],
  ['http://h/v1/responses', 'must end before /responses, which is appended.', 'Usually it ends in /v1.'],
  ['http://h/v1/messages/', 'must end before /v1/messages, which is appended.', 'Usually it ends in /v1.'],
])('the base URL %s cannot work', (base_url, message, hint) => {
  expect(findLlmProblems({ model: 'm', base_url })).toEqual([{ path: 'base_url', message, hint }])
})

const MODEL = 'For example model: gpt-4o.'
const SCRIPT = 'For example script: script.yaml.'
const COMMAND = 'For example command: [python3, model.py].'
test.each([
  [{}, 'model', 'missing; the provider openai needs it.', MODEL],
  [{ provider: 'script' }, 'script', 'missing; the provider script needs it.', SCRIPT],
  [{ provider: 'command' }, 'command', 'missing; the provider command needs it.', COMMAND],
])('%j lacks what its provider needs', (llm, path, message, hint) => {
  expect(findLlmProblems(llm)).toEqual([{ path, message, hint }])
})

test.each([
  [1500, 1500],
  ['800ms', 800],
  ['90s', 90_000],
  ['15m', 900_000],
  ['1.5h', 5_400_000],
])('a request may be retried for %j: %d ms', (max_wait, maxWaitMs) => {
  expect(settings({ model: 'm', retry: { max_wait } })).toMatchObject({ retry: { maxWaitMs } })
})

test.each([
  { max_wait: '6 hours' },
  { max_wait: -1 },
  { max_wait: null },
  { max_wait: 5, max_attempts: 2 },
  5,
  '6h',
])('retry: %j is refused', (retry) => {
  expect(accepts({ model: 'm', retry })).toBe(false)
})

test('anthropic needs a model and max_tokens', () => {
  expect(findLlmProblems({ provider: 'anthropic' })).toEqual([
    {
      path: 'model',
      message: 'missing; the provider anthropic needs it.',
      hint: 'For example model: claude-sonnet-5.',
    },
    {
      path: 'max_tokens',
      message: 'missing; the provider anthropic needs it.',
      hint: 'It is the most tokens that one answer may have. Write max_tokens: 16000.',
    },
  ])
})

test.each([
  [{ provider: 'anthropic', max_tokens: 5, api: 'chat' }, 'api', 'has no effect with provider anthropic.'],
  [{ headers: { X_Auth: 'k' } }, 'headers.X_Auth', 'keys do not belong in agent.yaml.'],
  [{ headers: { 'x-team': 'Bearer k' } }, 'headers.x-team', 'keys do not belong in agent.yaml.'],
  [{ headers: { 'a b': 'c' } }, 'headers.a b', 'is not the name of a header.'],
  [{ headers: { a: 'c\nauthorization: x' } }, 'headers.a', 'must be one line of ASCII characters.'],
])('%j is refused', (llm, path, message) => {
  expect(findLlmProblems({ model: 'm', ...llm })).toMatchObject([{ path, message }])
})

test.each([
  'Authorization',
  'x-api-key',
  'api-key',
  'Cookie',
  'proxy-authorization',
  'x-auth-token',
  'Authentication',
  'x-jwt',
])('the header %s is refused without its value, because it holds a key', (name) => {
  const problems = findLlmProblems({ model: 'm', headers: { [name]: 'sk-1234567890' } })
  expect(problems).toMatchObject([
    {
      message: 'keys do not belong in agent.yaml.',
      hint: 'Put it into .env and name the variable in llm.api_key_env.',
      misplacedKey: true,
    },
  ])
  expect(JSON.stringify(problems)).not.toContain('sk-')
})

test.each(['Host', 'content-length', 'Content-Type', 'user-agent', 'accept', 'x-stainless-os'])(
  'the header %s is refused, because the engine sets it',
  (name) => {
    const message = 'cannot be set: the engine sets this header itself.'
    expect(findLlmProblems({ model: 'm', headers: { [name]: 'x' } })).toMatchObject([{ message }])
  },
)

test.each(['sk-1234567890', 'gsk_abcdef', 'AKIAIOSFODNN7EXAMPLE', 'PATH', 'MY_BASE_URL', '$KEY', 5])(
  'api_key_env: %j is not the name of a variable for a key',
  (api_key_env) => {
    expect(accepts({ model: 'm', api_key_env })).toBe(false)
  },
)
