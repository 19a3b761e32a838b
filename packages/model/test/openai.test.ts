import { cp } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inspect } from 'node:util'
import {
  runProcess,
  type ScriptedTurn,
  type ServerScript,
  startScriptedServer,
  temporaryWorkspace,
} from '@delta/testkit'
import { OpenAI } from 'openai'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ChatRequest, isModelError, type ModelError, streamingRequest } from '../src/index.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'

const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Go.' }] }

async function start(script: readonly ScriptedTurn[] | ServerScript, options: OpenAiModelOptions = {}) {
  const server = await startScriptedServer(script)
  onTestFinished(() => server.close())
  return { server, model: openAiModel({ baseUrl: server.baseUrl, ...options }) }
}

async function failureOf(answer: Promise<unknown>): Promise<ModelError> {
  const error = await answer.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isModelError(error)) throw new Error(`expected a ModelError, got ${String(error)}`)
  return error
}

/** Headers that say who asks, for what, and with which key; the others are the connection's, but for the time limit. */
function chosenBy(headers: Readonly<Record<string, unknown>>) {
  const isChosen = (name: string) =>
    /^(x-stainless-.*|authorization|accept|user-agent|content-type)$/.test(name) &&
    name !== 'x-stainless-timeout'
  return Object.fromEntries(Object.entries(headers).filter(([name]) => isChosen(name)))
}

/** A server whose answers are nothing but a beat, for as long as somebody listens. */
async function startHeart(
  type: string,
  beat: string,
  whole?: { first: string; last: string },
): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': type })
    if (whole) response.write(whole.first)
    let beats = 0
    const beating = setInterval(() => {
      if (whole && beats++ === 100) response.end(whole.last)
      else response.write(beat)
    }, 35)
    response.once('close', () => clearInterval(beating))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

describe('a plain answer', () => {
  test('is the message, why it ended, its usage, and the whole answer as it came', async () => {
    const { model } = await start([
      { content: 'Hello.', usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
    ])
    expect(await model.complete(request)).toEqual({
      message: { role: 'assistant', content: 'Hello.' },
      finishReason: 'stop',
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
      raw: expect.objectContaining({ object: 'chat.completion', model: 'm' }),
    })
  })

  test('may call several tools, with arguments that are no JSON', async () => {
    const { model } = await start([
      {
        content: 'Both.',
        tool_calls: [
          { name: 'a', arguments: { x: 1 } },
          { name: 'b', arguments: '{"broken' },
        ],
      },
    ])
    expect((await model.complete(request)).message).toEqual({
      role: 'assistant',
      content: 'Both.',
      tool_calls: [
        { id: 'call_1_1', type: 'function', function: { name: 'a', arguments: '{"x":1}' } },
        { id: 'call_1_2', type: 'function', function: { name: 'b', arguments: '{"broken' } },
      ],
    })
  })

  test('keeps reasoning fields exactly as they came, in the next request too', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'abc', index: 0 }]
    const { server, model } = await start([
      { content: 'One.', message: { reasoning_content: 'Hm.', reasoning_details: details, refusal: null } },
      { content: 'Two.' },
    ])
    const { message } = await model.complete(request)
    expect(message).toEqual({
      role: 'assistant',
      content: 'One.',
      reasoning_content: 'Hm.',
      reasoning_details: details,
    })

    await model.complete({
      ...request,
      messages: [...request.messages, message, { role: 'user', content: 'On.' }],
    })
    expect(server.requests()[1]?.json?.messages[1]).toEqual(message)
  })
})

test('models that are made one after the other share a connection', async () => {
  const connections = new Set<unknown>()
  const server = createServer((asked, response) => {
    connections.add(asked.socket)
    response.end(JSON.stringify({ choices: [{ message: { content: 'Yes.' } }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  for (let count = 0; count < 3; count++) {
    expect((await openAiModel({ baseUrl }).complete(request)).message.content).toBe('Yes.')
    await new Promise(setImmediate) // the connection is free when the answer's end was seen
  }
  expect(connections.size).toBe(1)
})

test('any number of requests may end with one signal, without a warning', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => void process.off('warning', note))
  const { server, model } = await start([{ content: 'Hello.', hold: 'gate', times: 12 }])
  const { signal } = new AbortController()
  const answers = Array.from({ length: 12 }, () => model.complete(request, { signal }))
  await server.waitForRequests(12)
  server.release('gate')
  await Promise.all(answers)
  expect(warnings).toEqual([])
})

describe('what is sent', () => {
  test('is JSON.stringify of the request, byte for byte, unknown parameters included', async () => {
    const { server, model } = await start([{ content: 'Hello.' }])
    const odd: ChatRequest = {
      ...request,
      messages: [{ role: 'user', content: 'ä \u2028 \ud83d "quoted" \u0000', name: 'x' }],
      temperature: 0.7,
      reasoning_effort: 'high',
      extra: { nested: [null, 1e21] },
    }
    await model.complete(odd)
    await model.complete(streamingRequest(odd))
    expect(server.requests().map(({ body }) => body)).toEqual([
      JSON.stringify(odd),
      JSON.stringify(streamingRequest(odd)),
    ])
  })

  test('is the bytes that are given, where they are: what was recorded is what is sent', async () => {
    const { server, model } = await start([{ content: 'Hello.' }])
    const bytes = Buffer.from(JSON.stringify(request, null, 1))
    await model.complete(request, { bytes })
    expect(server.requests()[0]?.body).toBe(bytes.toString())
  })

  test('holds the key only in the Authorization header, and none for a server that needs none', async () => {
    const { server, model } = await start([{ content: 'Hello.' }], { apiKey: 'sk-secret-1' })
    await model.complete(request)
    await openAiModel({ baseUrl: server.baseUrl, apiKey: '' }).complete(request)
    const [withKey, without] = server.requests()
    expect(withKey?.headers.authorization).toBe('Bearer sk-secret-1')
    expect(JSON.stringify({ ...withKey, headers: { ...withKey?.headers, authorization: '' } })).not.toContain(
      'secret',
    )
    expect(without?.headers.authorization).toBe(undefined)
  })

  test('takes nothing from the environment', async () => {
    process.env.OPENAI_CUSTOM_HEADERS = 'x-from: environment\nauthorization: Bearer environment'
    const names = [
      'OPENAI_API_KEY',
      'OPENAI_ADMIN_KEY',
      'OPENAI_ORG_ID',
      'OPENAI_PROJECT_ID',
      'OPENAI_BASE_URL',
    ]
    for (const name of names) process.env[name] = 'http://from.environment.invalid'
    onTestFinished(() => {
      for (const name of [...names, 'OPENAI_CUSTOM_HEADERS']) delete process.env[name]
    })
    const { server, model } = await start([{ content: 'Hello.' }])
    await model.complete(request)
    expect(JSON.stringify(server.requests()[0]?.headers)).not.toContain('environment')
  })

  test('has the address and the headers with which the openai client sends it itself, but for who asks', async () => {
    const { server, model } = await start([{ content: 'Hello.', times: 2 }], { apiKey: 'sk-secret-1' })
    await model.complete(request)
    const client = new OpenAI({ apiKey: 'sk-secret-1', baseURL: server.baseUrl })
    await client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'Go.' }] })
    const told = server.requests().map(({ path, headers }) => ({ path, ...chosenBy(headers) }))
    expect({ ...told[0], 'user-agent': '' }).toEqual({ ...told[1], 'user-agent': '' })
    expect(server.requests()[0]?.headers['user-agent']).toMatch(/^delta-engine\/\d+\.\d+\.\d+/) // the client's is its class's name, which bundlers shorten
    expect(Object.keys(told[0] ?? {}).length).toBeGreaterThan(8)
  })

  test('goes to the path below the base URL, with its query as it is written and without doubled slashes', async () => {
    const { server } = await start([{ content: 'Hello.' }])
    await openAiModel({ baseUrl: `${server.baseUrl}/?api-version=1&tag=a+b&tag=%2F` }).complete(request)
    expect(server.requests()[0]?.path).toBe('/v1/chat/completions?api-version=1&tag=a+b&tag=%2F')
  })

  test('uses one connection again and again', async () => {
    const sockets = new Set<unknown>()
    const server = createServer((incoming, response) => {
      sockets.add(incoming.socket)
      incoming.resume().on('end', () => response.end('{"choices":[{"message":{"content":"Hello."}}]}'))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const model = openAiModel({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
    for (let count = 0; count < 3; count++) await model.complete(request)
    expect(sockets.size).toBe(1)
  })
})

describe('a streamed answer', () => {
  test('is the same as a plain one, and its text is heard as it comes', async () => {
    const turn: ScriptedTurn = {
      content: 'Three short words.',
      message: { reasoning_content: 'Let me think about it.' },
      tool_calls: [
        { name: 'a', arguments: { text: 'x y z' } },
        { name: 'b', arguments: '{"broken' },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }
    const { model } = await start([turn])
    const heard: string[] = []
    const streamed = await model.complete(streamingRequest(request), {
      onDelta: ({ content }) => content && heard.push(content),
    })
    const { raw: _raw, ...plain } = await model.complete(request)
    expect(streamed).toEqual({
      ...plain,
      raw: expect.objectContaining({ object: 'chat.completion', model: 'm' }),
    })
    expect(heard).toEqual(['Three', ' short', ' words.'])
  })

  test('arrives piece by piece, not at its end', async () => {
    const { server, model } = await start([{ content: 'one two three four', holdMidway: 'gate' }])
    const heard: string[] = []
    let tell: () => void
    const first = new Promise<void>((resolve) => {
      tell = resolve
    })
    const answer = model.complete(streamingRequest(request), {
      onDelta: ({ content }) => {
        heard.push(content ?? '')
        tell()
      },
    })
    await first
    expect(heard.join('')).not.toContain('four')
    server.release('gate')
    expect((await answer).message.content).toBe('one two three four')
  })

  test('may come whole from a server that does not stream', async () => {
    const server = createServer((_incoming, response) => {
      response.setHeader('content-type', 'application/json')
      response.end('{"choices":[{"message":{"role":"assistant","content":"Whole."}}]}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const model = openAiModel({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` })
    const heard: string[] = []
    const answer = await model.complete(streamingRequest(request), {
      onDelta: ({ content }) => heard.push(content ?? ''),
    })
    expect([answer.message.content, heard]).toEqual(['Whole.', ['Whole.']])
  })

  test('of a server that refuses stream_options is an error that names the setting', async () => {
    const { model } = await start({ refuseStreamOptions: true, turns: [{ content: 'Hello.' }] })
    const error = await failureOf(model.complete(streamingRequest(request)))
    expect(error).toMatchObject({ code: 'ERR_MODEL_REQUEST', retryable: false })
    expect(error.message).toContain('Write stream: false under llm in agent.yaml.')
  })
})

describe('errors that are worth another try', () => {
  test.each([
    [
      { status: 429, retryAfter: '7' },
      { code: 'ERR_MODEL_RATE_LIMIT', status: 429, retryAfterMs: 7000 },
    ],
    [
      { status: 503, headers: { 'retry-after-ms': '20' } },
      { code: 'ERR_MODEL_SERVER', status: 503, retryAfterMs: 20 },
    ],
    [
      { status: 429, message: 'Limit 6000, Used 5900. Please try again in 1m7.5s.' },
      { code: 'ERR_MODEL_RATE_LIMIT', status: 429, retryAfterMs: 67_500 },
    ],
    [
      { status: 400, message: 'Failed to call a function.', code: 'tool_use_failed' },
      { code: 'ERR_MODEL_SERVER', status: 400 },
    ],
    [{ status: 408 }, { code: 'ERR_MODEL_SERVER', status: 408 }],
    [{ status: 409 }, { code: 'ERR_MODEL_SERVER', status: 409 }],
    [{ status: 500 }, { code: 'ERR_MODEL_SERVER', status: 500 }],
    [
      { status: 502, body: '<html><title>Bad gateway</title></html>' },
      { code: 'ERR_MODEL_SERVER', status: 502 },
    ],
    [{ fault: 'reset' }, { code: 'ERR_MODEL_CONNECTION' }],
    [{ fault: 'cut' }, { code: 'ERR_MODEL_CONNECTION' }],
    [{ fault: 'truncated' }, { code: 'ERR_MODEL_RESPONSE' }],
    [{ fault: 'empty' }, { code: 'ERR_MODEL_RESPONSE' }],
    [{ fault: 'html' }, { code: 'ERR_MODEL_RESPONSE' }],
  ] as const)('%j', async (fault, expected) => {
    const { server, model } = await start([fault])
    for (const body of [request, streamingRequest(request)]) {
      expect(await failureOf(model.complete(body))).toMatchObject({ ...expected, retryable: true })
    }
    expect(server.requests()).toHaveLength(2) // the client's own retries are off
  })

  test('a Retry-After may be a date', async () => {
    const inAMinute = new Date(Date.now() + 60_000).toUTCString()
    const { model } = await start([{ status: 503, retryAfter: inAMinute }])
    const { retryAfterMs } = await failureOf(model.complete(request))
    expect(retryAfterMs).toBeGreaterThan(0)
    expect(retryAfterMs).toBeLessThanOrEqual(60_000)
  })

  test('but not of a server that asks for more than five minutes: the error says for how long', async () => {
    const patient = await start([{ status: 429, retryAfter: '300' }])
    expect(await failureOf(patient.model.complete(request))).toMatchObject({ retryable: true })
    const { model } = await start([{ status: 503, retryAfter: '10800' }])
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ retryable: false, retryAfterMs: 10_800_000 })
    expect(error.message.split('\n').at(-1)).toBe(
      'The server asks to wait 3 hours, and at most 5 minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.',
    )
    const { model: sooner } = await start([{ status: 503, retryAfter: '301' }])
    expect((await failureOf(sooner.complete(request))).message).toContain('asks to wait 6 minutes,')
    const { model: later } = await start([{ status: 503, retryAfter: '259200' }])
    expect((await failureOf(later.complete(request))).message).toContain('asks to wait 3 days,')
  })

  test('a stream that ends before its answer does is an error, even when HTTP is content', async () => {
    const chunk = 'data: {"choices":[{"index":0,"delta":{"content":"Half an ans"}}]}\n\n'
    const { model } = await start([
      { status: 200, body: chunk, headers: { 'content-type': 'text/event-stream' } },
    ])
    const error = await failureOf(model.complete(streamingRequest(request)))
    expect(error).toMatchObject({ code: 'ERR_MODEL_RESPONSE', retryable: true })
    expect(error.message).toBe(
      'The stream ended after 11 characters of text, before the answer did: no finish_reason and no [DONE] came. What arrived was discarded.',
    )
  })

  test('silence: nothing at all, or nothing more in the middle of an answer', async () => {
    const { model } = await start([{ fault: 'hang' }], { timeoutMs: 30 })
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_TIMEOUT',
      retryable: true,
    })

    const held = await start([{ content: 'one two', holdMidway: 'never' }], { timeoutMs: 100 })
    for (const body of [request, streamingRequest(request)]) {
      const error = await failureOf(held.model.complete(body))
      expect(error.code).toBe('ERR_MODEL_TIMEOUT')
      expect(error.message).toBe(
        `${held.server.baseUrl}/chat/completions sent nothing of its answer for 100 ms. If the model needs longer, raise the time limit: timeoutMs (in agent.yaml, llm.timeout_ms).`,
      )
    }
  })

  test.each([
    ['comments in a stream', 'text/event-stream', ': ping\n\n'],
    [
      'pieces of a stream that add nothing',
      'text/event-stream',
      'data: {"choices":[{"delta":{"content":""}}]}\n\n',
    ],
    ['white space before a whole answer', 'application/json', '\n'],
  ])('signs of life do not keep a silent model going: %s', async (_what, type, beat) => {
    const baseUrl = await startHeart(type, beat)
    const model = openAiModel({ baseUrl, timeoutMs: 100 })
    const error = await failureOf(model.complete(streamingRequest(request)))
    expect(error).toMatchObject({ code: 'ERR_MODEL_TIMEOUT', retryable: true })
  })

  test('a whole answer that keeps coming may take longer than the limit', async () => {
    const first = '{"choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"'
    const baseUrl = await startHeart('application/json', 'word ', { first, last: '"}}]}' })
    const model = openAiModel({ baseUrl, timeoutMs: 3000 })
    expect((await model.complete(request)).message.content).toBe('word '.repeat(100))
  })

  test('no silence is too long with timeoutMs: 0', async () => {
    const { server, model } = await start([{ content: 'At last.', hold: 'gate' }], { timeoutMs: 0 })
    const answer = model.complete(request)
    await server.waitForRequests(1)
    server.release('gate')
    expect((await answer).message.content).toBe('At last.')
  })

  test('an address with https where a server speaks plain HTTP', async () => {
    const { server } = await start([])
    const url = server.baseUrl.replace('http:', 'https:')
    const error = await failureOf(openAiModel({ baseUrl: url }).complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_CONNECTION', retryable: false })
    expect(error.message).toBe(
      `${url}/chat/completions could not be reached: the server there does not speak TLS.\n` +
        'If it is your own, its base URL begins with http://.',
    )
  })

  test('nobody listening', async () => {
    const { server, model } = await start([])
    await server.close()
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_CONNECTION', retryable: true })
    expect(error.message).toBe(
      `${server.baseUrl}/chat/completions could not be reached: connect ECONNREFUSED ${new URL(server.baseUrl).host}\n` +
        'Nothing is listening there. Is the server running, and are the host and port of the base URL right?',
    )
  })
})

describe('errors that are not', () => {
  test.each([
    [
      { status: 401, message: 'Incorrect API key provided.' },
      'ERR_MODEL_ACCESS',
      'refused access (401): Incorrect API key provided.\nNo API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.',
    ],
    [
      { status: 404, message: 'The model `m` does not exist' },
      'ERR_MODEL_NOT_FOUND',
      'was not found (404): The model `m` does not exist\nCheck that the server knows the model "m", and that the base URL is right: it usually ends in /v1.',
    ],
    [
      { status: 400, message: 'Unrecognized request argument supplied: temprature' },
      'ERR_MODEL_REQUEST',
      'refused the request (400): Unrecognized request argument supplied: temprature\nCheck what it names: parameters are sent exactly as they were set, messages as they were given.',
    ],
    [
      { status: 400, message: 'Too long.', code: 'context_length_exceeded' },
      'ERR_MODEL_TOO_LONG',
      'refused the request (400): Too long.\nThe conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
    ],
    [
      {
        status: 400,
        body: '[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]',
      },
      'ERR_MODEL_ACCESS',
      'refused access (400): API key not valid. Please pass a valid API key.\nNo API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.',
    ],
    [
      {
        status: 400,
        body: '<html><head><title>The plain HTTP request was sent to HTTPS port</title></head></html>',
      },
      'ERR_MODEL_REQUEST',
      'refused the request (400): a web page ("The plain HTTP request was sent to HTTPS port")\nA web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.',
    ],
    [
      { status: 500, message: 'Jinja Exception: System message must be at the beginning.' },
      'ERR_MODEL_REQUEST',
      'refused the request (500): Jinja Exception: System message must be at the beginning.\nThis model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.',
    ],
    [
      { status: 413, message: 'Request too large: Limit 6000, Requested 12000.' },
      'ERR_MODEL_TOO_LONG',
      'refused the request (413): Request too large: Limit 6000, Requested 12000.\nThe conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.',
    ],
    [
      {
        status: 400,
        body: '{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"No tools here."}}}',
      },
      'ERR_MODEL_REQUEST',
      'refused the request (400): Provider returned error No tools here.\nCheck what it names: parameters are sent exactly as they were set, messages as they were given.',
    ],
    [
      { status: 429, body: '{"error":{"message":"No money.","type":"insufficient_quota","code":"429"}}' },
      'ERR_MODEL_QUOTA',
      "demands payment (429): No money.\nWaiting will not help: check the account's plan and balance.",
    ],
    [
      { status: 429, message: 'You exceeded your current quota.', code: 'insufficient_quota' },
      'ERR_MODEL_QUOTA',
      "demands payment (429): You exceeded your current quota.\nWaiting will not help: check the account's plan and balance.",
    ],
    [
      { status: 422, body: '{"detail":"temperature: not a number"}' },
      'ERR_MODEL_REQUEST',
      'refused the request (422): temperature: not a number\nCheck what it names: parameters are sent exactly as they were set, messages as they were given.',
    ],
    [
      { status: 403, body: '[{"error":{"code":403,"message":"Region not supported."}}]' },
      'ERR_MODEL_ACCESS',
      'refused access (403): Region not supported.\nNo API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.',
    ],
    [
      { status: 404, body: '<!doctype html><title>Not\n here</title>' },
      'ERR_MODEL_NOT_FOUND',
      'was not found (404): a web page ("Not here")\nCheck that the server knows the model "m", and that the base URL is right: it usually ends in /v1.',
    ],
    [
      { status: 301, headers: { location: 'https://example.org/v1/' }, body: '' },
      'ERR_MODEL_REQUEST',
      'redirects elsewhere (301): (no explanation)\nRedirects are not followed. If https://example.org/v1/ is right, make it the base URL.',
    ],
  ] as const)('%j', async (fault, code, message) => {
    const { server, model } = await start([fault])
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code, status: fault.status, retryable: false, retryAfterMs: undefined })
    expect(error.message).toBe(`${server.baseUrl}/chat/completions ${message}`)
  })

  test.each(['/gateway/v1/chat/completions', 'chat/completions?from=here'])(
    'of a redirect to %j the address that is said can be made the base URL',
    async (location) => {
      const { server, model } = await start([{ status: 307, headers: { location }, body: '' }])
      const { message } = await failureOf(model.complete(request))
      const [, said = ''] = / If (\S+) is right, make it the base URL\./.exec(message) ?? []
      expect(new URL(said).origin).toBe(new URL(server.baseUrl).origin)
      expect(said).not.toContain('completions')
    },
  )

  test.each([
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    'the request exceeds the available context size, try increasing it',
    'prompt is too long: 208310 tokens > 200000 maximum',
    'The input token count (1189512) exceeds the maximum number of tokens allowed (1048576).',
    "This model's maximum prompt length is 131072 but the request contains 156789 tokens.",
    'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
  ])('a conversation that is too long, in the words of many servers: %s', async (message) => {
    const { model } = await start({
      choose: 'requests',
      turns: [
        { status: 400, message },
        { status: 200, body: JSON.stringify({ error: { message } }) },
      ],
    })
    for (const _ of ['refused', 'said in an answer']) {
      const error = await failureOf(model.complete(request))
      expect(error).toMatchObject({ code: 'ERR_MODEL_TOO_LONG', retryable: false })
      expect(error.message).toContain('The conversation is longer than the model can take: send less of it.')
    }
  })

  test('a path that the server does not know, said with status 200', async () => {
    const body = '{"error":"Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}'
    const { model } = await start([{ status: 200, body }])
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_NOT_FOUND', retryable: false })
    expect(error.message).toContain('that the base URL is right: it usually ends in /v1')
  })

  test('a web page with status 200 says where to look', async () => {
    const { server, model } = await start([{ fault: 'html' }])
    expect((await failureOf(model.complete(request))).message).toBe(
      `${server.baseUrl}/chat/completions answered with a web page ("Welcome") where JSON was expected. Check the base URL: it usually ends in /v1; a proxy or login page in between answers like this, too.`,
    )
  })

  test('an error inside an answer with status 200, as gateways send it', async () => {
    const overloaded = '{"error":{"code":502,"message":"Provider overloaded"}}'
    const { model } = await start({
      choose: 'requests',
      turns: [
        { status: 200, body: overloaded },
        { status: 200, body: `data: ${overloaded}\n\n`, headers: { 'content-type': 'text/event-stream' } },
        { status: 200, body: '{"error":{"code":401,"message":"No credentials"}}' },
      ],
    })
    const expected = { code: 'ERR_MODEL_SERVER', status: 502, retryable: true }
    expect(await failureOf(model.complete(request))).toMatchObject(expected)
    expect(await failureOf(model.complete(streamingRequest(request)))).toMatchObject(expected)
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_ACCESS',
      retryable: false,
    })
  })

  test.each([
    ['of a choice', { choices: [{ message: { content: 'Half' }, error: { code: 502, message: 'Gone.' } }] }],
    ['as the whole body', { object: 'error', message: 'Gone.', type: 'InternalServerError', code: 502 }],
  ])('an error %s, whatever came before it', async (_where, body) => {
    const before = { choices: [{ delta: { content: 'Half' } }] }
    const stream = `data: ${JSON.stringify(before)}\n\ndata: ${JSON.stringify(body)}\n\ndata: [DONE]\n\n`
    const { model } = await start({
      choose: 'requests',
      turns: [
        { status: 200, body: JSON.stringify(body) },
        { status: 200, body: stream, headers: { 'content-type': 'text/event-stream' } },
      ],
    })
    for (const asked of [request, streamingRequest(request)]) {
      const error = await failureOf(model.complete(asked))
      expect(error).toMatchObject({ code: 'ERR_MODEL_SERVER', status: 502, retryable: true })
      expect(error.message).toContain('answered with an error: Gone.')
    }
  })

  test('the signal of the caller: before, while waiting, in the middle of a stream', async () => {
    const { server, model } = await start([{ content: 'one two', holdMidway: 'never' }])
    const aborted = { code: 'ERR_MODEL_ABORTED', retryable: false }
    expect(await failureOf(model.complete(request, { signal: AbortSignal.abort() }))).toMatchObject(aborted)
    expect(server.requests()).toEqual([])

    const waiting = new AbortController()
    const answer = failureOf(model.complete(request, { signal: waiting.signal }))
    await server.waitForRequests(1)
    waiting.abort()
    expect(await answer).toMatchObject(aborted)
    expect((await server.waitForEnd(1)).sentWhole).toBe(false)

    const reading = new AbortController()
    const stream = model.complete(streamingRequest(request), {
      signal: reading.signal,
      onDelta: () => reading.abort(),
    })
    expect(await failureOf(stream)).toMatchObject(aborted)
    expect((await server.waitForEnd(2)).sentWhole).toBe(false)
  })

  test('a base URL that is none, or that holds credentials', () => {
    expect(() => openAiModel({ baseUrl: 'localhost:11434' })).toThrow(
      'The base URL is not an http or https URL, such as http://localhost:11434/v1.',
    )
    expect(() => openAiModel({ baseUrl: 'http://me:hunter22@example.org/v1' })).toThrow(
      /^The base URL for example\.org holds credentials\. Put the key into \.env as DELTA_API_KEY instead\.$/,
    )
  })

  test('a base URL with the path that is appended to it', () => {
    expect(() => openAiModel({ baseUrl: 'http://localhost:1/v1/chat/completions' })).toThrow(
      'The base URL for localhost:1 must end before /chat/completions, which is appended.',
    )
  })

  test('a key with a line break in it, which the message does not show', () => {
    expect(() => openAiModel({ apiKey: 'sk-secret\n' })).toThrow(
      /^The API key contains a space, a line break or another character that cannot be part of a key\. Check where it was set\.$/,
    )
  })

  test('a request that is no JSON is the own error of whoever made it', async () => {
    const { server, model } = await start([{ content: 'never' }])
    await expect(model.complete({ ...request, seed: 1n })).rejects.toThrow(TypeError)
    expect(server.requests()).toEqual([])
  })

  test('the openai package is not installed', async () => {
    await using directory = await temporaryWorkspace({
      'ask.mjs': `
        import { openAiModel } from './model/openai.js'
        await openAiModel().complete({ messages: [] }).catch(({ code, message }) => console.log(code, message))
      `,
    })
    await cp(new URL('../dist', import.meta.url), join(directory.path, 'model'), { recursive: true })
    const { stdout } = await runProcess([process.execPath, 'ask.mjs'], { cwd: directory.path })
    expect(stdout).toBe(
      'ERR_MODEL_SETTINGS The package openai is not installed. Install it: npm install openai\n',
    )
  })

  test('a listener that throws is its own error, not one of the model', async () => {
    const { model } = await start([{ content: 'one two' }])
    const answer = model.complete(streamingRequest(request), {
      onDelta: () => {
        throw new RangeError('mine')
      },
    })
    await expect(answer).rejects.toThrow(RangeError)
  })
})

test('a key is in no message and no cause, though the server repeats it', async () => {
  const apiKey = 'sk-very-secret-123456'
  const { model } = await start(
    {
      choose: 'requests',
      turns: [
        { status: 401, message: `Incorrect API key provided: ${apiKey}.` },
        { status: 500, body: `oops ${apiKey}` },
        { status: 200, body: `<html><title>${apiKey}</title></html>` },
        { status: 200, body: `{"broken ${apiKey}` },
        { status: 200, body: `{"error":{"message":"${apiKey}"}}` },
        {
          status: 200,
          body: `data: {"broken ${apiKey}\n\n`,
          headers: { 'content-type': 'text/event-stream' },
        },
      ],
    },
    { apiKey },
  )
  const messages: string[] = []
  for (let count = 0; count < 6; count++) {
    const error = await failureOf(model.complete(count === 5 ? streamingRequest(request) : request))
    messages.push(error.message)
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(apiKey)
  }
  expect(messages.filter((message) => message.includes('[API key]'))).toHaveLength(6)
})

test('of a key that is cut with the explanation around it, the beginning is not shown either', async () => {
  const apiKey = 'sk-very-secret-123456'
  const cut = (length: number) => `${'x'.repeat(length - 20)}${apiKey}`
  const stream = { status: 200, headers: { 'content-type': 'text/event-stream' } }
  const turns = [
    { status: 401, body: cut(500) },
    { ...stream, body: `data: ${cut(200)}\n\n` },
    { status: 200, body: `{"answer":"${cut(189)}"}` },
  ]
  const { model } = await start({ choose: 'requests', turns }, { apiKey })
  for (const _turn of turns) {
    const { message } = await failureOf(model.complete(request))
    expect(message).toContain('x[API key]…')
    expect(message).not.toContain('sk-')
  }
})

describe('a key that an answer repeats', () => {
  const apiKey = 'sk-very-secret-123456'

  test('is taken out of it, wherever it stands', async () => {
    const { model } = await start(
      [
        {
          content: `Key: ${apiKey}!`,
          message: { reasoning: apiKey },
          tool_calls: [{ name: 'n', arguments: { key: apiKey } }],
        },
      ],
      { apiKey },
    )
    const answer = await model.complete(request)
    expect(answer.message).toMatchObject({
      content: 'Key: [API key]!',
      reasoning: '[API key]',
      tool_calls: [{ function: { arguments: '{"key":"[API key]"}' } }],
    })
    expect(JSON.stringify(answer)).not.toContain(apiKey)
  })

  test('is not heard either where a stream brings it in pieces, and what only begins like it is', async () => {
    const pieces = ['Key: sk-', 'very-sec', 'ret-123456', '! And sk-', 'very', ' good, sk-v']
    const chunks = pieces.map(
      (content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`,
    )
    const { model } = await start(
      [
        {
          status: 200,
          body: `${chunks.join('')}data: [DONE]\n\n`,
          headers: { 'content-type': 'text/event-stream' },
        },
      ],
      { apiKey },
    )
    const heard: string[] = []
    const answer = await model.complete(streamingRequest(request), {
      onDelta: ({ content }) => heard.push(content ?? ''),
    })
    expect(heard.join('')).toBe('Key: [API key]! And sk-very good, sk-v')
    expect(answer.message.content).toBe(heard.join(''))
  })

  test('a placeholder for a key, as local servers take it, is a word like any other', async () => {
    const { model } = await start([{ content: 'Install ollama.' }], { apiKey: 'ollama' })
    expect((await model.complete(request)).message.content).toBe('Install ollama.')
  })
})
