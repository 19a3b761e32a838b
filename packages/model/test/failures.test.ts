import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { ModelErrorCode } from '../src/index.js'
import { openAiModel } from '../src/openai.js'
import { event, failureOf, modelBehind, plain, request, STREAM, start, streamed } from './server.js'

describe('errors that are worth another try', () => {
  test.each([
    [
      { status: 429, retryAfter: '7' },
      { code: 'ERR_MODEL_RATE_LIMIT', status: 429, retryAfterMs: 7000 },
    ],
    [
      { status: 429, retryAfter: '300' },
      { code: 'ERR_MODEL_RATE_LIMIT', retryAfterMs: 300_000 },
    ],
    [
      { status: 503, headers: { 'retry-after-ms': '20' } },
      { code: 'ERR_MODEL_SERVER', retryAfterMs: 20 },
    ],
    [
      { status: 429, message: 'Limit 6000, Used 5900. Please try again in 1m7.5s.' },
      { code: 'ERR_MODEL_RATE_LIMIT', retryAfterMs: 67_500 },
    ],
    [
      { status: 400, message: 'No call.', code: 'tool_use_failed' },
      { code: 'ERR_MODEL_SERVER', status: 400 },
    ],
    [{ status: 408 }, { code: 'ERR_MODEL_SERVER', status: 408 }],
    [{ status: 409 }, { code: 'ERR_MODEL_SERVER', status: 409 }],
    [
      { status: 502, body: '<html><title>Bad gateway</title>' },
      { code: 'ERR_MODEL_SERVER', status: 502 },
    ],
    [{ fault: 'reset' }, { code: 'ERR_MODEL_CONNECTION' }],
    [{ fault: 'cut' }, { code: 'ERR_MODEL_CONNECTION' }],
    [{ fault: 'truncated' }, { code: 'ERR_MODEL_RESPONSE' }],
    [{ fault: 'empty' }, { code: 'ERR_MODEL_RESPONSE' }],
    [{ fault: 'html' }, { code: 'ERR_MODEL_RESPONSE' }],
  ] as const)('%j', async (fault, expected) => {
    const { server, model } = await start([fault])
    for (const body of [request, streamed])
      expect(await failureOf(model.complete(body))).toMatchObject({ ...expected, retryable: true })
    expect(server.requests()).toHaveLength(2) // the client's own retries are off
  })

  test.each([
    ['301', '6 minutes'],
    ['10800', '3 hours'],
  ])('but not of a server that asks for %s s: the error says for how long', async (retryAfter, time) => {
    const { model } = await start([{ status: 503, retryAfter }])
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ retryable: false, retryAfterMs: Number(retryAfter) * 1000 })
    expect(error.message.split('\n').at(-1)).toBe(
      `The server asks to wait ${time}, and at most 5 minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.`,
    )
  })

  test('a stream that ends before its answer does', async () => {
    const half = event({ delta: { content: 'Half an ans' } })
    const model = await modelBehind((response) => response.writeHead(200, STREAM).end(half))
    expect(await failureOf(model.complete(streamed))).toMatchObject({
      code: 'ERR_MODEL_RESPONSE',
      retryable: true,
      message:
        'The stream ended after 11 characters of text, before the answer did: no finish_reason and no [DONE] came. What arrived was discarded.',
    })
  })

  test('bytes that are not UTF-8, whole or streamed', async () => {
    for (const [body, headers] of [
      [plain({ content: 'caf\xe9' }), {}],
      [event({ delta: { content: 'caf\xe9' } }), STREAM],
    ] as const) {
      const model = await modelBehind((response) =>
        response.writeHead(200, headers).end(Buffer.from(body, 'latin1')),
      )
      expect(await failureOf(model.complete(request))).toMatchObject({
        code: 'ERR_MODEL_RESPONSE',
        retryable: true,
        message: `${model.baseUrl}/chat/completions answered with bytes that are not UTF-8, so part of the answer is unknown. What arrived was discarded.`,
      })
    }
  })

  test('an answer that is not packed as it says', async () => {
    const model = await modelBehind((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(plain({ content: 'Hello.' })),
    )
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_CONNECTION', retryable: true })
    expect(error.message).toContain('broke off in the middle of its answer: incorrect header check')
  })

  test('an answer nested so deeply that it cannot be recorded', async () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    const deep = plain({ content: 'x', extra: 0 }).replace('"extra":0', `"extra":${nested}`)
    const model = await modelBehind((response) => response.end(deep))
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_RESPONSE',
      retryable: true,
      message: 'The answer cannot be recorded: it is nested more than 200 levels deep.',
    })
  })

  test('another protocol: the connection is closed, though the server keeps it open', async () => {
    let closed: Promise<unknown> | undefined
    const model = await modelBehind(({ socket }) => {
      closed = socket ? once(socket, 'close') : undefined
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_CONNECTION', retryable: true })
    expect(error.message).toContain('It closed the connection without an answer.')
    await closed
  })

  test('a port without a server', async () => {
    const { server, model } = await start([])
    await server.close()
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_CONNECTION',
      retryable: true,
      message: `${server.baseUrl}/chat/completions could not be reached: connect ECONNREFUSED ${new URL(server.baseUrl).host}
Nothing is listening there. Is the server running, and are the host and port of the base URL right?`,
    })
  })
})

describe('silence', () => {
  test('is an error: nothing at all, or nothing more in the middle of an answer', async () => {
    const hanging = await start([{ fault: 'hang' }], { timeoutMs: 30 })
    const held = await start([{ content: 'one two', holdMidway: 'never' }], { timeoutMs: 100 })
    for (const [{ server, model }, ms] of [
      [hanging, 30],
      [held, 100],
    ] as const)
      for (const body of [request, streamed])
        expect(await failureOf(model.complete(body))).toMatchObject({
          code: 'ERR_MODEL_TIMEOUT',
          retryable: true,
          message: `${server.baseUrl}/chat/completions sent nothing of its answer for ${ms} ms. If the model needs longer, raise the time limit: timeoutMs (in agent.yaml, llm.timeout_ms).`,
        })
  })

  /** Sends a beat again and again, at most a hundred times if there is an end. */
  function beat(response: ServerResponse, piece: string, end?: string): void {
    let beats = 0
    const beating = setInterval(() => {
      if (end !== undefined && beats++ === 100) response.end(end)
      else response.write(piece)
    }, 35)
    response.once('close', () => clearInterval(beating))
  }

  test('is not ended by white space before an answer', async () => {
    const model = await modelBehind((response) => beat(response.writeHead(200), '\n'), { timeoutMs: 100 })
    expect(await failureOf(model.complete(request))).toMatchObject({ code: 'ERR_MODEL_TIMEOUT' })
  })

  test('is not what a long answer is, nor is any wait too long with timeoutMs: 0', async () => {
    const [first = '', last] = plain({ content: '@' }).split('@')
    const answer = (response: ServerResponse) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write(first)
      beat(response, 'word ', last)
    }
    const model = await modelBehind(answer, { timeoutMs: 3000 })
    expect((await model.complete(request)).message.content).toBe('word '.repeat(100))

    const patient = await start([{ content: 'At last.', hold: 'gate' }], { timeoutMs: 0 })
    const late = patient.model.complete(request)
    await patient.server.waitForRequests(1)
    patient.server.release('gate')
    expect((await late).message.content).toBe('At last.')
  })
})

describe('errors that are not worth another try', () => {
  const HAPPENED: Partial<Record<ModelErrorCode, string>> = {
    ERR_MODEL_ACCESS: 'refused access',
    ERR_MODEL_NOT_FOUND: 'was not found',
    ERR_MODEL_QUOTA: 'demands payment',
    ERR_MODEL_REQUEST: 'refused the request',
    ERR_MODEL_TOO_LONG: 'refused the request',
  }
  const NO_KEY =
    'No API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.'
  const NOT_FOUND =
    'Check that the server knows the model "m", and that the base URL is right: it usually ends in /v1.'
  const PARAMETERS =
    'Check what it names: parameters are sent exactly as they were set, messages as they were given.'
  const TOO_LONG =
    'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.'
  const NO_MONEY = "Waiting will not help: check the account's plan and balance."
  const ONE_SYSTEM_MESSAGE =
    'This model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.'
  const WEB_PAGE =
    'A web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.'

  const nested = (error: object, status = 400) => ({ status, body: JSON.stringify({ error }) })

  test.each([
    [{ status: 401, message: 'Wrong key.' }, 'ERR_MODEL_ACCESS', 'Wrong key.', NO_KEY],
    [
      { status: 400, body: '[{"error":{"code":400,"message":"API key not valid."}}]' },
      'ERR_MODEL_ACCESS',
      'API key not valid.',
      NO_KEY,
    ],
    [{ status: 403, body: '[{"error":{"message":"Region."}}]' }, 'ERR_MODEL_ACCESS', 'Region.', NO_KEY],
    [{ status: 404, message: 'No `m`.' }, 'ERR_MODEL_NOT_FOUND', 'No `m`.', NOT_FOUND],
    [
      { status: 404, body: '<!doctype html><title>Not\n here</title>' },
      'ERR_MODEL_NOT_FOUND',
      'a web page ("Not here")',
      NOT_FOUND,
    ],
    [{ status: 400, message: 'temprature' }, 'ERR_MODEL_REQUEST', 'temprature', PARAMETERS],
    [{ status: 422, body: '{"detail":"Not a number"}' }, 'ERR_MODEL_REQUEST', 'Not a number', PARAMETERS],
    [
      nested({ message: 'Provider returned error', metadata: { raw: 'No tools here.' } }),
      'ERR_MODEL_REQUEST',
      'Provider returned error No tools here.',
      PARAMETERS,
    ],
    [
      { status: 400, body: '<html><title>Plain HTTP to HTTPS</title></html>' },
      'ERR_MODEL_REQUEST',
      'a web page ("Plain HTTP to HTTPS")',
      WEB_PAGE,
    ],
    [
      { status: 500, message: 'System message must be at the beginning.' },
      'ERR_MODEL_REQUEST',
      'System message must be at the beginning.',
      ONE_SYSTEM_MESSAGE,
    ],
    [
      { status: 400, message: 'Long.', code: 'context_length_exceeded' },
      'ERR_MODEL_TOO_LONG',
      'Long.',
      TOO_LONG,
    ],
    [{ status: 413, message: 'Too large.' }, 'ERR_MODEL_TOO_LONG', 'Too large.', TOO_LONG],
    [
      nested({ message: 'No money.', type: 'insufficient_quota', code: '429' }, 429),
      'ERR_MODEL_QUOTA',
      'No money.',
      NO_MONEY,
    ],
    [{ status: 429, message: 'Quota.', code: 'insufficient_quota' }, 'ERR_MODEL_QUOTA', 'Quota.', NO_MONEY],
  ] as const)('%j', async (fault, code, said, advice) => {
    const { server, model } = await start([fault])
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code, status: fault.status, retryable: false, retryAfterMs: undefined })
    expect(error.message).toBe(
      `${server.baseUrl}/chat/completions ${HAPPENED[code]} (${fault.status}): ${said}\n${advice}`,
    )
  })

  test.each(['https://example.org/v1/', '/gateway/v1/chat/completions', 'chat/completions?from=here'])(
    'a redirect to %j, whose address can be made the base URL',
    async (location) => {
      const { server, model } = await start([{ status: 307, headers: { location }, body: '' }])
      const error = await failureOf(model.complete(request))
      expect(error).toMatchObject({ code: 'ERR_MODEL_REQUEST', status: 307, retryable: false })
      const [, target = ''] =
        /redirects elsewhere \(307\): \(no explanation\)\nRedirects are not followed\. If (\S+) is right, make it the base URL\.$/.exec(
          error.message,
        ) ?? []
      expect(new URL(target).origin).toBe(new URL(location, server.baseUrl).origin)
      expect(target).not.toContain('completions')
    },
  )

  test.each([
    "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    'the request exceeds the available context size, try increasing it',
    'prompt is too long: 208310 tokens > 200000 maximum',
    'The input token count (1189512) exceeds the maximum number of tokens allowed (1048576).',
    "This model's maximum prompt length is 131072 but the request contains 156789 tokens.",
    'Input validation error: `inputs` must have less than 4095 tokens. Given: 5000',
  ])('a conversation that is too long, refused or said in an answer: %s', async (message) => {
    const turns = [{ status: 400, message }, nested({ message }, 200)]
    const { model } = await start({ choose: 'requests', turns })
    for (const _ of turns) {
      const error = await failureOf(model.complete(request))
      expect(error).toMatchObject({ code: 'ERR_MODEL_TOO_LONG', retryable: false })
      expect(error.message).toContain(TOO_LONG)
    }
  })

  test('what says with status 200 that the path or the address is wrong', async () => {
    const unknown =
      '{"error":"Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}'
    const turns = [{ status: 200, body: unknown }, { fault: 'html' }] as const
    const { server, model } = await start({ choose: 'requests', turns })
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_NOT_FOUND', retryable: false })
    expect(error.message).toContain(NOT_FOUND)
    expect((await failureOf(model.complete(request))).message).toBe(
      `${server.baseUrl}/chat/completions answered with a web page ("Welcome") where JSON was expected. Check the base URL: it usually ends in /v1; a proxy or login page in between answers like this, too.`,
    )
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

  test('a server that does not know breakpoints of the cache, with where they come from', async () => {
    const { model } = await start([{ status: 400, message: 'Unknown parameter: prompt_cache_breakpoint' }])
    const { message } = await failureOf(model.complete(request))
    expect(message).toContain('It is what prompt_cache in context.yaml is sent as.')
  })

  test('a server that refuses stream_options, with the setting that helps', async () => {
    const { model } = await start({ refuseStreamOptions: true, turns: [{ content: 'Hello.' }] })
    const error = await failureOf(model.complete(streamed))
    expect(error).toMatchObject({ code: 'ERR_MODEL_REQUEST', retryable: false })
    expect(error.message).toContain('Write stream: false under llm in agent.yaml.')
  })

  test.each<[string, (response: ServerResponse) => void]>([
    ['never ends', (response) => response.write('Wrong')],
    ['breaks off', (response) => response.write('Wrong') && setImmediate(() => response.destroy())],
    ['is endless', (response) => sendForEver(response, 'Wrong '.repeat(10_000))],
  ])('a refusal whose explanation %s is shown as far as it arrived', async (_how, explain) => {
    const model = await modelBehind((response) => explain(response.writeHead(401, { 'content-length': 1e9 })))
    const { code, message } = await failureOf(model.complete(request))
    expect(code).toBe('ERR_MODEL_ACCESS')
    expect(message).toContain('/chat/completions refused access (401): Wrong')
    expect(message.length).toBeLessThan(1000)
  })
})

/** Sends the same bytes until the connection is closed. */
function sendForEver(response: ServerResponse, piece: string): void {
  const send = () => {
    while (!response.destroyed && response.write(piece));
  }
  response.on('drain', send)
  send()
}

test('an endless answer is given up, whole, streamed, or where few bytes unpack to many', async () => {
  const megabyte = 'x'.repeat(1 << 20)
  const packed = gzipSync(plain({ content: 'x'.repeat(65 << 20) }))
  for (const answer of [
    (response: ServerResponse) => sendForEver(response, megabyte),
    (response: ServerResponse) =>
      sendForEver(response.writeHead(200, STREAM), event({ delta: { content: megabyte } })),
    (response: ServerResponse) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  ]) {
    const model = await modelBehind(answer)
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_RESPONSE',
      retryable: false,
      message: `${model.baseUrl}/chat/completions sent too much to be an answer. It is longer than 64 MiB. What arrived was discarded.
Check the base URL, and whether a proxy stands in between.`,
    })
  }
})

test('an answer of more values or parts than a model writes is given up before it stops the process', async () => {
  const details = Array(200_001).fill({})
  for (const [body, limit, headers] of [
    [`{"choices":[{"message":{"content":[${'{},'.repeat(1_000_001)}{}]}}]}`, '2000000 values', {}],
    [event({ delta: { reasoning_details: details } }), '200000 parts', STREAM],
  ] as const) {
    const model = await modelBehind((response) => response.writeHead(200, headers).end(body))
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_RESPONSE',
      retryable: false,
      message: expect.stringContaining(`sent too much to be an answer. It has more than ${limit}.`),
    })
  }
})

test.each([
  ['an error', { error: { code: 502, message: 'Gone.' } }],
  [
    'an error of a choice',
    { choices: [{ message: { content: 'Half' }, error: { code: 502, message: 'Gone.' } }] },
  ],
  [
    'an error as the whole body',
    { object: 'error', message: 'Gone.', type: 'InternalServerError', code: 502 },
  ],
])('%s with status 200 counts as what it says, whatever came before it', async (_where, error) => {
  const body = JSON.stringify(error)
  const stream = `${event({ delta: { content: 'Half' } })}data: ${body}\n\ndata: [DONE]\n\n`
  const turns = [
    { status: 200, body },
    { status: 200, body: stream, headers: STREAM },
  ]
  const { model } = await start({ choose: 'requests', turns })
  for (const asked of [request, streamed]) {
    const failure = await failureOf(model.complete(asked))
    expect(failure).toMatchObject({ code: 'ERR_MODEL_SERVER', status: 502, retryable: true })
    expect(failure.message).toContain('answered with an error: Gone.')
  }
})
