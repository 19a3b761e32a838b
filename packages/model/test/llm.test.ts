import { expect, test } from 'vitest'
import { safeParseLlm } from '../src/internal.js'

const problemsOf = (input: unknown) => {
  const parsed = safeParseLlm(input)
  return parsed.ok ? [] : parsed.problems
}

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=…, or into the environment.'

test('our own keys become settings, keys with x- are the author’s own, and every other one is a parameter of the API', () => {
  const parameters = { temperature: 0.7, reasoning: { effort: 'high' }, stop: null }
  expect(safeParseLlm({ model: 'gpt-4o', 'x-why': 'cheap', ...parameters })).toEqual({
    ok: true,
    llm: { provider: 'openai', model: 'gpt-4o', parameters },
  })
  const settings = { base_url: 'http://localhost:11434/v1/', timeout_ms: 1000, max_attempts: 1 }
  expect(safeParseLlm({ provider: 'openai', model: 'm', ...settings })).toEqual({
    ok: true,
    llm: {
      provider: 'openai',
      model: 'm',
      baseUrl: 'http://localhost:11434/v1',
      timeoutMs: 1000,
      maxAttempts: 1,
      parameters: {},
    },
  })
})

test.each([
  { provider: 'script', script: 'script.yaml' },
  { provider: 'command', command: ['python3', 'model.py'] },
  { provider: 'replay', script: '../recorded' },
])('%j needs no model', (llm) => {
  expect(safeParseLlm(llm)).toMatchObject({ ok: true })
})

test.each([
  ['gpt-4o', 'must be a mapping, got "gpt-4o".', 'Write llm: { model: gpt-4o }.'],
  [null, 'must be a mapping, got nothing.', 'Write llm: { model: gpt-4o }.'],
  [['gpt-4o'], 'must be a mapping, got a list.', 'Write llm: { model: gpt-4o }.'],
])('%j is not a mapping', (input, message, hint) => {
  expect(problemsOf(input)).toEqual([{ path: '', message, hint }])
})

test('every problem is reported at once, each with its place', () => {
  const command = ['a', 1]
  const wrong = { provider: 'opnai', model: '', base_url: 5, command, timeout_ms: 0.5, max_attempts: 0 }
  expect(problemsOf(wrong)).toEqual([
    {
      path: 'provider',
      message: 'must be one of openai, anthropic, command, script, replay, got "opnai".',
      hint: 'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.',
    },
    { path: 'model', message: 'must not be empty.', hint: 'For example model: gpt-4o.' },
    { path: 'base_url', message: 'must be a string, got 5.' },
    { path: 'command[1]', message: 'must be a string, got 1.' },
    { path: 'timeout_ms', message: 'must be a whole number, got 0.5.' },
    { path: 'max_attempts', message: 'must be at least 1, got 0.' },
  ])
  const paths = problemsOf({ base_url: 'nonsense', timeout_ms: 'soon' }).map(({ path }) => path)
  expect(paths).toEqual(['timeout_ms', 'base_url', 'model'])
})

test.each([
  ...['api_key', 'apiKey', 'API_KEY', 'openai_api_key', 'openrouter_api_key', 'key', 'authorization'].map(
    (key) => [key, 'An API key must not be written here.', KEY_HINT],
  ),
  ...['extra_headers', 'default_headers'].map((key) => [key, 'Is called headers here.', KEY_HINT]),
  ['extra_body', 'Is not needed.', 'Write its contents directly under llm:.'],
  ...['messages', 'input', 'system', 'tools'].map((key) => [
    key,
    'Cannot be set: it is filled in for every request.',
    undefined,
  ]),
  ['n', 'Cannot be set: one answer is asked for.', undefined],
])('the key %s is refused, and its value is not repeated', (path = '', message, hint) => {
  const problems = problemsOf({ model: 'm', [path]: 'sk-1234567890' })
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
  expect(problemsOf({ model: 'm', base_url })).toEqual([{ path: 'base_url', message, hint }])
})

const MODEL = 'For example model: gpt-4o.'
const SCRIPT = 'For example script: script.yaml.'
const COMMAND = 'For example command: [python3, model.py].'
test.each([
  [{}, 'model', 'missing; the provider openai needs it.', MODEL],
  [{ provider: 'script' }, 'script', 'missing; the provider script needs it.', SCRIPT],
  [{ provider: 'command' }, 'command', 'missing; the provider command needs it.', COMMAND],
  [
    { provider: 'command', command: 'python3 m.py' },
    'command',
    'must be a list, got "python3 m.py".',
    COMMAND,
  ],
  [{ provider: 'command', command: [] }, 'command', 'must not be empty.', COMMAND],
])('%j lacks what its provider needs', (llm, path, message, hint) => {
  expect(problemsOf(llm)).toEqual([{ path, message, hint }])
})

test.each([
  [1500, 1500],
  ['800ms', 800],
  ['90s', 90_000],
  ['15m', 900_000],
  ['1.5h', 5_400_000],
])('a request may be retried for %j: %d ms', (max_wait, maxWaitMs) => {
  expect(safeParseLlm({ model: 'm', retry: { max_wait } })).toMatchObject({ llm: { retry: { maxWaitMs } } })
})

const A_TIME = 'must be a time such as 90s, 15m, 6h, or milliseconds'
test.each([
  [{ max_wait: '6 hours' }, 'retry.max_wait', `${A_TIME}, got "6 hours".`],
  [{ max_wait: -1 }, 'retry.max_wait', `${A_TIME}, got -1.`],
  [{ max_wait: null }, 'retry.max_wait', `${A_TIME}, got nothing.`],
  [{ max_wait: 5, max_attempts: 2 }, 'retry.max_attempts', 'Unknown key. Known: max_wait.'],
  [5, 'retry', 'must be a mapping, got 5.'],
])('retry: %j is refused', (retry, path, message) => {
  expect(problemsOf({ model: 'm', retry })).toMatchObject([{ path, message }])
})

test('api, headers and the name of the key are settings', () => {
  const headers = { 'anthropic-beta': 'context-1m', 'x-team': 'a b' }
  expect(safeParseLlm({ model: 'm', api: 'responses', headers, api_key_env: 'GROQ_API_KEY' })).toMatchObject({
    llm: { api: 'responses', headers, apiKeyEnv: 'GROQ_API_KEY', parameters: {} },
  })
})

test('a time as retry says where the time belongs', () => {
  expect(problemsOf({ model: 'm', retry: '6h' })).toMatchObject([
    { path: 'retry', hint: 'Write retry: { max_wait: 6h }.' },
  ])
})

test('anthropic needs a model and max_tokens', () => {
  expect(problemsOf({ provider: 'anthropic' })).toEqual([
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

const WHOLE = 'cannot be set. The conversation is in the journal and is sent whole.'
test.each([
  [{ api: 'messages' }, 'api', 'must be one of chat, responses, got "messages".'],
  [{ provider: 'anthropic', max_tokens: 5, api: 'chat' }, 'api', 'has no effect with provider anthropic.'],
  [
    { provider: 'ai-sdk' },
    'provider',
    'must be one of openai, anthropic, command, script, replay, got "ai-sdk".',
  ],
  [{ previous_response_id: 'resp_1' }, 'previous_response_id', WHOLE],
  [{ conversation: 'conv_1' }, 'conversation', WHOLE],
  [{ background: true }, 'background', WHOLE],
  [{ api: 'responses', store: true }, 'store', WHOLE],
  [{ headers: 5 }, 'headers', 'must be a mapping'],
  [{ headers: { X_Auth: 'k' } }, 'headers.X_Auth', 'keys do not belong in agent.yaml.'],
  [{ headers: { 'x-team': 'Bearer k' } }, 'headers.x-team', 'keys do not belong in agent.yaml.'],
  [{ headers: { 'a b': 'c' } }, 'headers.a b', 'is not the name of a header.'],
  [{ headers: { a: 'c\nauthorization: x' } }, 'headers.a', 'must be one line of ASCII characters.'],
])('%j is refused', (llm, path, message) => {
  expect(problemsOf({ model: 'm', ...llm })).toMatchObject([{ path, message }])
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
  const problems = problemsOf({ model: 'm', headers: { [name]: 'sk-1234567890' } })
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
    expect(problemsOf({ model: 'm', headers: { [name]: 'x' } })).toMatchObject([{ message }])
  },
)

test.each(['sk-1234567890', 'gsk_abcdef', 'AKIAIOSFODNN7EXAMPLE', 'PATH', 'MY_BASE_URL', '$KEY', 5])(
  'api_key_env: %j is not the name of a variable for a key, and is not repeated',
  (api_key_env) => {
    const problems = problemsOf({ model: 'm', api_key_env })
    expect(problems).toMatchObject([{ path: 'api_key_env', hint: expect.stringContaining('Write the name') }])
    expect(JSON.stringify(problems)).not.toContain(String(api_key_env))
  },
)
