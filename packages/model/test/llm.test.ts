import { describe, expect, test } from 'vitest'
import { safeParseLlm } from '../src/internal.js'

const problemsOf = (input: unknown) => {
  const parsed = safeParseLlm(input)
  return parsed.ok ? [] : parsed.problems
}

const KEY_HINT =
  'Keys never belong in this file. Put the key into .env as DELTA_API_KEY=… or OPENAI_API_KEY=…, or into the environment.'

describe('settings that are accepted', () => {
  test('a model is enough, and every key that is not ours is a parameter of the API', () => {
    expect(
      safeParseLlm({
        model: 'gpt-4o',
        temperature: 0.7,
        max_tokens: 4096,
        reasoning: { effort: 'high' },
        stop: null,
      }),
    ).toEqual({
      ok: true,
      llm: {
        provider: 'openai',
        model: 'gpt-4o',
        parameters: { temperature: 0.7, max_tokens: 4096, reasoning: { effort: 'high' }, stop: null },
      },
    })
  })

  test('our own keys become settings', () => {
    expect(
      safeParseLlm({
        provider: 'openai',
        model: 'm',
        base_url: 'http://localhost:11434/v1/',
        timeout_ms: 1000,
        max_attempts: 1,
      }),
    ).toEqual({
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

  test('keys that begin with x- are the author’s own and reach no API', () => {
    expect(safeParseLlm({ model: 'm', 'x-why': 'cheap', seed: 1 })).toMatchObject({
      llm: { parameters: { seed: 1 } },
    })
    expect(JSON.stringify(safeParseLlm({ model: 'm', 'x-why': 'cheap' }))).not.toContain('x-why')
  })

  test('models that are no server need no name', () => {
    expect(safeParseLlm({ provider: 'script', script: 'script.yaml' })).toMatchObject({ ok: true })
    expect(safeParseLlm({ provider: 'command', command: ['python3', 'model.py'] })).toMatchObject({
      ok: true,
    })
    expect(safeParseLlm({ provider: 'replay', script: '../recorded' })).toMatchObject({ ok: true })
  })
})

describe('settings that are refused', () => {
  test('no mapping at all', () => {
    expect(problemsOf('gpt-4o')).toEqual([
      {
        path: '',
        message: 'Must be a mapping, not "gpt-4o".',
        hint: 'Write llm: { model: gpt-4o }.',
      },
    ])
    expect(problemsOf(null)).toMatchObject([{ message: 'Must be a mapping, not nothing.' }])
    expect(problemsOf(['gpt-4o'])).toMatchObject([{ message: 'Must be a mapping, not a list.' }])
  })

  test('every problem at once, each with its place', () => {
    expect(
      problemsOf({
        provider: 'opnai',
        model: '',
        base_url: 5,
        command: ['a', 1],
        timeout_ms: 0.5,
        max_attempts: 0,
      }),
    ).toEqual([
      {
        path: 'provider',
        message: 'Must be one of openai, command, script, replay, not "opnai".',
        hint: 'A server that speaks chat completions (Ollama, vLLM, OpenRouter …) is provider: openai with its base_url.',
      },
      {
        path: 'model',
        message: 'Must not be empty.',
        hint: 'For example model: gpt-4o.',
      },
      { path: 'base_url', message: 'Must be a string, not 5.' },
      { path: 'command[1]', message: 'Must be a string, not 1.' },
      { path: 'timeout_ms', message: 'Must be a whole number, not 0.5.' },
      { path: 'max_attempts', message: 'Must be at least 1, not 0.' },
    ])
  })

  test.each(['api_key', 'apiKey', 'API_KEY', 'openai_api_key', 'openrouter_api_key', 'key', 'authorization'])(
    'a key, as %s',
    (name) => {
      const problems = problemsOf({ model: 'm', [name]: 'sk-1234567890' })
      expect(problems).toEqual([
        { path: name, message: 'An API key must not be written here.', hint: KEY_HINT, misplacedKey: true },
      ])
    },
  )

  test.each(['http://me:pw@host/v1', 'https://token@host/v1', 'https://host/v1?api_key=sk-1'])(
    'credentials in the base URL %s',
    (base_url) => {
      expect(problemsOf({ model: 'm', base_url })).toEqual([
        { path: 'base_url', message: 'Credentials must not be written into the URL.', hint: KEY_HINT },
      ])
    },
  )

  test('a base URL that cannot work', () => {
    const hint = 'For example http://localhost:11434/v1.'
    const message = 'Must be an http or https URL.'
    expect(problemsOf({ model: 'm', base_url: 'localhost:11434' })).toEqual([
      { path: 'base_url', message, hint },
    ])
    expect(problemsOf({ model: 'm', base_url: 'nonsense' })).toEqual([{ path: 'base_url', message, hint }])
    expect(problemsOf({ model: 'm', base_url: 'http://h/v1/chat/completions' })).toEqual([
      {
        path: 'base_url',
        message: 'Must end before /chat/completions, which is appended.',
        hint: 'Usually it ends in /v1.',
      },
    ])
  })

  test('one wrong setting does not hide what is wrong with another, or missing', () => {
    expect(problemsOf({ base_url: 'nonsense', timeout_ms: 'soon' }).map(({ path }) => path)).toEqual([
      'timeout_ms',
      'base_url',
      'model',
    ])
  })

  test.each(['headers', 'extra_headers', 'default_headers'])(
    '%s, which would be sent as a part of the request',
    (name) => {
      expect(problemsOf({ model: 'm', [name]: { Authorization: 'Bearer sk-1234567890' } })).toEqual([
        {
          path: name,
          message: 'Cannot be set: requests carry no custom headers.',
          hint: `${KEY_HINT} For a server that needs other headers use provider: command.`,
          misplacedKey: true,
        },
      ])
    },
  )

  test('extra_body, for what nobody knows is sent as it is', () => {
    expect(problemsOf({ model: 'm', extra_body: { top_k: 5 } })).toEqual([
      {
        path: 'extra_body',
        message: 'Is not needed.',
        hint: 'Write its contents directly under llm:.',
        misplacedKey: true,
      },
    ])
  })

  test('what is filled in with every request', () => {
    expect(problemsOf({ model: 'm', messages: [], tools: [], n: 2 }).map(({ path }) => path)).toEqual([
      'messages',
      'tools',
      'n',
    ])
  })

  test('a provider without what it needs', () => {
    expect(problemsOf({})).toMatchObject([{ path: 'model' }])
    expect(problemsOf({ provider: 'script' })).toMatchObject([{ path: 'script' }])
    expect(problemsOf({ provider: 'command' })).toMatchObject([{ path: 'command' }])
    expect(problemsOf({ provider: 'command', command: 'python3 model.py' })).toEqual([
      {
        path: 'command',
        message: 'Must be a list, not "python3 model.py".',
        hint: 'For example command: [python3, model.py].',
      },
    ])
    expect(problemsOf({ provider: 'command', command: [] })).toEqual([
      {
        path: 'command',
        message: 'Must not be empty.',
        hint: 'For example command: [python3, model.py].',
      },
    ])
  })

  test('no message repeats a key', () => {
    expect(
      JSON.stringify(problemsOf({ api_key: 'sk-1234', base_url: 'http://me:sk-5678@host/v1' })),
    ).not.toContain('sk-')
  })
})

describe('how long a request is tried again', () => {
  test.each([
    [1500, 1500],
    ['800ms', 800],
    ['90s', 90_000],
    ['15m', 900_000],
    ['1.5h', 5_400_000],
  ])('%j is %d ms', (max_wait, maxWaitMs) => {
    expect(safeParseLlm({ model: 'm', retry: { max_wait } })).toMatchObject({
      ok: true,
      llm: { retry: { maxWaitMs } },
    })
  })

  test.each([
    ['6 hours', 'Must be a time such as 90s, 15m, 6h, or milliseconds, not "6 hours".'],
    [-1, 'Must be a time such as 90s, 15m, 6h, or milliseconds, not -1.'],
    [null, 'Must be a time such as 90s, 15m, 6h, or milliseconds, not nothing.'],
  ])('%j is not', (max_wait, message) => {
    expect(problemsOf({ model: 'm', retry: { max_wait } })).toEqual([{ path: 'retry.max_wait', message }])
  })

  test('no other key stands beside it', () => {
    expect(problemsOf({ model: 'm', retry: { max_wait: 5, max_attempts: 2 } })).toEqual([
      { path: 'retry.max_attempts', message: 'Unknown key. Known: max_wait.' },
    ])
    expect(problemsOf({ model: 'm', retry: 5 })).toMatchObject([{ message: 'Must be a mapping, not 5.' }])
  })
})
