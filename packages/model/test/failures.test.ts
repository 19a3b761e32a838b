import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openAiModel } from '../src/openai.js'
import {
  event,
  failureOf,
  modelBehind,
  modelRefused,
  plain,
  type Refusal,
  request,
  STREAM,
  start,
  streamed,
} from './server.js'

const [limited, broken] = ['ERR_MODEL_RATE_LIMIT', 'ERR_MODEL_SERVER']

describe('errors that are worth another try', () => {
  test.each<[refusal: Refusal, expected: object]>([
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { code: limited, retryAfterMs: 7000 },
    ],
    [
      { status: 429, headers: { 'retry-after': '300' } },
      { code: limited, retryAfterMs: 300_000 },
    ],
    [
      { status: 503, headers: { 'retry-after-ms': '20' } },
      { code: broken, retryAfterMs: 20 },
    ],
    [
      { status: 529, headers: { 'retry-after': '7' } },
      { code: broken, retryAfterMs: 7000 },
    ],
    [
      { status: 429, message: 'Limit 6000, Used 5900. Please try again in 1m7.5s.' },
      { code: limited, retryAfterMs: 67_500 },
    ],
    [{ status: 400, message: 'No call.', code: 'tool_use_failed' }, { code: broken }],
    [{ status: 408 }, { code: broken }],
    [{ status: 409 }, { code: broken }],
    [{ status: 502, body: '<html><title>Bad gateway</title>' }, { code: broken }],
  ])('%j', async (refusal, expected) => {
    const model = await modelRefused(refusal)
    const failure = { ...expected, status: refusal.status, retryable: true }
    expect(await failureOf(model.complete(request))).toMatchObject(failure)
  })

  test('a connection that is reset or closed early, and an answer that is half, empty or a web page', async () => {
    const codes = {
      reset: 'ERR_MODEL_CONNECTION',
      cut: 'ERR_MODEL_CONNECTION',
      truncated: 'ERR_MODEL_RESPONSE',
      empty: 'ERR_MODEL_RESPONSE',
      html: 'ERR_MODEL_RESPONSE',
    } as const
    const faults = (Object.keys(codes) as (keyof typeof codes)[]).flatMap((fault) => [{ fault }, { fault }])
    const { server, model } = await start({ choose: 'requests', turns: faults })
    for (const code of Object.values(codes))
      for (const body of [request, streamed])
        expect(await failureOf(model.complete(body))).toMatchObject({ code, retryable: true })
    expect(server.requests()).toHaveLength(faults.length) // the client's own retries are off
  })

  test.each([
    ['301', '6 minutes'],
    ['10800', '3 hours'],
  ])('but not of a server that asks for %s s: the error says for how long', async (retryAfter, time) => {
    const model = await modelRefused({ status: 503, headers: { 'retry-after': retryAfter } })
    const error = await failureOf(model.complete(request))
    expect(error).toMatchObject({ retryable: false, retryAfterMs: Number(retryAfter) * 1000 })
    expect(error.message.split('\n').at(-1)).toBe(
      `The server asks to wait ${time}, and at most 5 minutes are waited here unless llm.retry.max_wait allows it. Try again when that time has passed.`,
    )
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
  const NO_KEY =
    'No API key is set. Put one into .env or the environment, as DELTA_API_KEY or OPENAI_API_KEY.'
  const NOT_FOUND =
    'Check that the server knows the model "m", and that the base URL is right: it usually ends in /v1.'
  const PARAMETERS =
    'Check what it names: parameters are sent exactly as they were set, messages as they were given.'
  const TOO_LONG =
    'The conversation is longer than the model can take: send less of it. In context.yaml, max_iterations of the journal source and total_max_tokens do that.'
  const NO_MONEY = "Waiting will not help: check the account's plan and balance."
  const MERGE =
    'This model takes one system message, and each source before the conversation is one. Write merge: true in context.yaml: they are then sent as one message.'
  const ONE_MESSAGE = 'System message must be at the beginning.'
  const NOT_ENCRYPTED = 'Encrypted content is not supported with this model.'
  const WEB_PAGE =
    'A web page is not an answer: check the base URL (http or https, host, port), and whether a proxy stands in between.'
  const PROMPT_CACHE = 'It is what prompt_cache in context.yaml is sent as. Remove it there for this server.'
  const NO_ENCRYPTION =
    'This model cannot encrypt its reasoning. Write include: null under llm in agent.yaml.'
  const NO_STREAM = 'It seems that this server cannot stream. Write stream: false under llm in agent.yaml.'

  const says = (status: number, message: string, code?: string) => ({
    status,
    message,
    ...(code && { code }),
  })
  const answers = (status: number, body: string) => ({ status, body })
  const nested = '{"error":{"message":"Provider error.","metadata":{"raw":"No tools here."}}}'

  test.each<[refusal: Refusal, said: string, advice: string]>([
    [says(401, 'Wrong key.'), 'ACCESS refused access (401): Wrong key.', NO_KEY],
    [
      answers(400, '[{"error":{"message":"API key bad."}}]'),
      'ACCESS refused access (400): API key bad.',
      NO_KEY,
    ],
    [says(403, 'Region.'), 'ACCESS refused access (403): Region.', NO_KEY],
    [says(404, 'No `m`.'), 'NOT_FOUND was not found (404): No `m`.', NOT_FOUND],
    [
      answers(404, '<!doctype html><title>A\n b</title>'),
      'NOT_FOUND was not found (404): a web page ("A b")',
      NOT_FOUND,
    ],
    [answers(422, '{"detail":"Odd."}'), 'REQUEST refused the request (422): Odd.', PARAMETERS],
    [answers(400, nested), 'REQUEST refused the request (400): Provider error. No tools here.', PARAMETERS],
    [
      answers(400, '<html><title>TLS</title>'),
      'REQUEST refused the request (400): a web page ("TLS")',
      WEB_PAGE,
    ],
    [says(500, ONE_MESSAGE), `REQUEST refused the request (500): ${ONE_MESSAGE}`, MERGE],
    [says(400, 'cache_control?'), 'REQUEST refused the request (400): cache_control?', PROMPT_CACHE],
    [says(400, NOT_ENCRYPTED), `REQUEST refused the request (400): ${NOT_ENCRYPTED}`, NO_ENCRYPTION],
    [says(400, 'stream_options?'), 'REQUEST refused the request (400): stream_options?', NO_STREAM],
    [says(400, 'Long.', 'context_length_exceeded'), 'TOO_LONG refused the request (400): Long.', TOO_LONG],
    [says(413, 'Large.'), 'TOO_LONG refused the request (413): Large.', TOO_LONG],
    [says(429, 'Quota.', 'insufficient_quota'), 'QUOTA demands payment (429): Quota.', NO_MONEY],
    [says(402, 'Pay.'), 'QUOTA demands payment (402): Pay.', NO_MONEY],
  ])('%j', async (refusal, expected, advice) => {
    const model = await modelRefused(refusal)
    const error = await failureOf(model.complete(request))
    const [name, ...said] = expected.split(' ')
    const code = `ERR_MODEL_${name}`
    expect(error).toMatchObject({ code, status: refusal.status, retryable: false, retryAfterMs: undefined })
    expect(error.message).toBe(`${model.baseUrl}/chat/completions ${said.join(' ')}\n${advice}`)
  })

  test.each(['https://example.org/v1/', '/gateway/v1/chat/completions', 'chat/completions?from=here'])(
    'a redirect to %j, whose address can be made the base URL',
    async (location) => {
      const model = await modelRefused({ status: 307, headers: { location }, body: '' })
      const error = await failureOf(model.complete(request))
      expect(error).toMatchObject({ code: 'ERR_MODEL_REQUEST', status: 307, retryable: false })
      const [, target = ''] =
        /redirects elsewhere \(307\): \(no explanation\)\nRedirects are not followed\. If (\S+) is right, make it the base URL\.$/.exec(
          error.message,
        ) ?? []
      expect(new URL(target).origin).toBe(new URL(location, model.baseUrl).origin)
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
    for (const status of [400, 200]) {
      const error = await failureOf((await modelRefused({ status, message })).complete(request))
      expect(error).toMatchObject({ code: 'ERR_MODEL_TOO_LONG', retryable: false })
      expect(error.message).toContain(TOO_LONG)
    }
  })

  test.each([
    ['rate_limit_exceeded', 'ERR_MODEL_RATE_LIMIT', true, 429],
    ['insufficient_quota', 'ERR_MODEL_QUOTA', false, 429],
    ['authentication_error', 'ERR_MODEL_ACCESS', false, 401],
    ['invalid_request_error', 'ERR_MODEL_REQUEST', false, 400],
    ['invalid_prompt', 'ERR_MODEL_REQUEST', false, undefined],
    ['server_error', 'ERR_MODEL_SERVER', true, undefined],
  ])('the code %s in an answer counts as what it says', async (said, code, retryable, status) => {
    const model = await modelRefused({ status: 200, message: 'No.', code: said })
    expect(await failureOf(model.complete(request))).toMatchObject({ code, retryable, status })
  })

  test('what says with status 200 that the path or the address is wrong', async () => {
    const body = '{"error":"Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway"}'
    const error = await failureOf((await modelRefused({ status: 200, body })).complete(request))
    expect(error).toMatchObject({ code: 'ERR_MODEL_NOT_FOUND', retryable: false })
    expect(error.message).toContain(NOT_FOUND)
    const model = await modelRefused({ status: 200, body: '<!DOCTYPE html>\n<title>Welcome</title>' })
    expect((await failureOf(model.complete(request))).message).toBe(
      `${model.baseUrl}/chat/completions answered with a web page ("Welcome") where JSON was expected. Check the base URL: it usually ends in /v1; a proxy or login page in between answers like this, too.`,
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
  for (const refusal of [
    { status: 200, body },
    { status: 200, body: stream, headers: STREAM },
  ]) {
    const failure = await failureOf((await modelRefused(refusal)).complete(streamed))
    expect(failure).toMatchObject({ code: 'ERR_MODEL_SERVER', status: 502, retryable: true })
    expect(failure.message).toContain('answered with an error: Gone.')
  }
})
