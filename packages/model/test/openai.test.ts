import { inspect } from 'node:util'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { OpenAI } from 'openai'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ChatRequest } from '../src/index.js'
import { openAiModel } from '../src/openai.js'
import { event, failureOf, modelBehind, plain, request, STREAM, start, streamed } from './server.js'

const HELLO = plain({ content: 'Hello.' })
const DONE = 'data: [DONE]\n\n'

describe('an answer', () => {
  test('arrives piece by piece, not at its end', async () => {
    const { server, model } = await start([{ content: 'one two three four', holdMidway: 'gate' }])
    const heard: string[] = []
    let hear = () => {}
    const first = new Promise<void>((resolve) => {
      hear = resolve
    })
    const answer = model.complete(streamed, {
      onDelta({ content = '' }) {
        heard.push(content)
        hear()
      },
    })
    await first
    expect(heard.join('')).not.toContain('four')
    server.release('gate')
    expect((await answer).message.content).toBe('one two three four')
  })

  const stream = `: alive\n\n${event({ delta: { content: 'Hello.' } })}${DONE}`
  const whole = `\uFEFF${HELLO}` // a byte order mark does not matter
  test.each([
    ['whole though a stream was asked for', { 'content-type': 'application/json' }, whole],
    ['as a stream', STREAM, stream],
    ['as a stream under another type', { 'content-type': 'text/plain' }, stream],
    ['as a stream that calls itself JSON', { 'content-type': 'application/json' }, stream],
    ['packed by gzip', { 'content-encoding': 'gzip' }, gzipSync(HELLO)],
    ['packed by deflate', { 'content-encoding': 'deflate' }, deflateSync(HELLO)],
    ['packed by br', { 'content-encoding': 'br' }, brotliCompressSync(HELLO)],
    ['as a packed stream', { ...STREAM, 'content-encoding': 'gzip' }, gzipSync(stream)],
  ])('may come %s', async (_how, headers: Record<string, string>, body) => {
    const model = await modelBehind((response) => response.writeHead(200, headers).end(body))
    const heard: string[] = []
    const answer = await model.complete(streamed, { onDelta: ({ content = '' }) => heard.push(content) })
    expect([answer.message.content, heard.join('')]).toEqual(['Hello.', 'Hello.'])
  })
})

test('models that are made one after the other share a connection', async () => {
  const { baseUrl, sockets } = await modelBehind((response) => response.end(HELLO))
  for (let count = 0; count < 3; count++) {
    expect((await openAiModel({ baseUrl }).complete(request)).message.content).toBe('Hello.')
    await new Promise(setImmediate) // the connection is free when the answer's end was seen
  }
  expect(sockets.size).toBe(1)
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

test('the signal of the caller ends a request: before, while waiting, in the middle of a stream', async () => {
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
  const options = { signal: reading.signal, onDelta: () => reading.abort() }
  expect(await failureOf(model.complete(streamed, options))).toMatchObject(aborted)
  expect((await server.waitForEnd(2)).sentWhole).toBe(false)
})

test('an error of the caller’s own stays what it is: a request that is not JSON, a listener that throws', async () => {
  const { server, model } = await start([{ content: 'one two' }])
  await expect(model.complete({ ...request, seed: 1n })).rejects.toThrow(TypeError)
  expect(server.requests()).toEqual([])
  const onDelta = () => {
    throw new RangeError('mine')
  }
  await expect(model.complete(streamed, { onDelta })).rejects.toThrow(RangeError)
})

describe('what is sent', () => {
  test('is the request as JSON, byte for byte, or the bytes that are given', async () => {
    const { server, model } = await start([{ content: 'Hello.' }])
    const odd: ChatRequest = {
      ...request,
      messages: [{ role: 'user', content: 'ä \u2028 \ud83d "quoted" \u0000', name: 'x' }],
      temperature: 0.7,
      extra: { nested: [null, 1e21] },
    }
    const bytes = Buffer.from(JSON.stringify(request, null, 1))
    await model.complete(odd)
    await model.complete({ ...odd, stream: true })
    await model.complete(request, { bytes })
    expect(server.requests().map(({ body }) => body)).toEqual([
      JSON.stringify(odd),
      JSON.stringify({ stream_options: { include_usage: true }, ...odd, stream: true }),
      bytes.toString(),
    ])
  })

  test('holds the key only in the Authorization header, and none for a server that needs none', async () => {
    const { server, model } = await start([{ content: 'Hello.' }], { apiKey: 'sk-secret-1' })
    await model.complete(request)
    await openAiModel({ baseUrl: server.baseUrl, apiKey: '' }).complete(request)
    const [withKey, without] = server.requests()
    expect(withKey?.headers.authorization).toBe('Bearer sk-secret-1')
    const rest = { ...withKey, headers: { ...withKey?.headers, authorization: '' } }
    expect(JSON.stringify(rest)).not.toContain('secret')
    expect(without?.headers.authorization).toBe(undefined)
  })

  test('takes nothing from the environment', async () => {
    const names = ['API_KEY', 'ADMIN_KEY', 'ORG_ID', 'PROJECT_ID', 'BASE_URL'].map((name) => `OPENAI_${name}`)
    for (const name of names) process.env[name] = 'http://from.environment.invalid'
    process.env.OPENAI_CUSTOM_HEADERS = 'x-from: environment\nauthorization: Bearer environment'
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
    const [ours, theirs] = server.requests().map(({ path, headers }) => {
      const isChosen = ([name]: [string, unknown]) =>
        /^(x-stainless-(?!timeout).*|authorization|accept|content-type)$/.test(name)
      return { path, ...Object.fromEntries(Object.entries(headers).filter(isChosen)) }
    })
    expect(ours).toEqual(theirs)
    expect(Object.keys(ours ?? {}).length).toBeGreaterThan(7)
    // the client's is its class's name, which bundlers shorten
    expect(server.requests()[0]?.headers['user-agent']).toMatch(/^delta-engine\/\d+\.\d+\.\d+/)
  })

  test('goes to the path below the base URL, with its query as it is written and without doubled slashes', async () => {
    const { server } = await start([{ content: 'Hello.' }])
    await openAiModel({ baseUrl: `${server.baseUrl}/?api-version=1&tag=a+b&tag=%2F` }).complete(request)
    expect(server.requests()[0]?.path).toBe('/v1/chat/completions?api-version=1&tag=a+b&tag=%2F')
  })
})

describe('settings that cannot work', () => {
  test.each([
    [
      { baseUrl: 'localhost:1' },
      'The base URL is not an http or https URL, such as http://localhost:11434/v1.',
    ],
    [
      { baseUrl: 'http://me:hunter22@example.org/v1' },
      'The base URL for example.org holds credentials. Put the key into .env as DELTA_API_KEY instead.',
    ],
    [
      { baseUrl: 'http://localhost:1/v1/chat/completions' },
      'The base URL for localhost:1 must end before /chat/completions, which is appended.',
    ],
    [
      { apiKey: 'sk-secret\n' }, // which the message does not show
      'The API key contains a space, a line break or another character that cannot be part of a key. Check where it was set.',
    ],
  ])('%j', (options, message) => {
    expect(() => openAiModel(options)).toThrow(
      expect.objectContaining({ code: 'ERR_MODEL_SETTINGS', message }),
    )
  })
})

describe('a key that the server repeats', () => {
  const apiKey = 'sk-very-secret-123456'

  test('is in no error: not in its message, not in its cause, not its beginning where the explanation is cut', async () => {
    const cut = (length: number) => `${'x'.repeat(length - 20)}${apiKey}`
    const ok = { status: 200, headers: STREAM }
    const turns = [
      { status: 401, message: `Incorrect API key provided: ${apiKey}.` },
      { status: 500, body: `oops ${apiKey}` },
      { status: 200, body: `<html><title>${apiKey}</title></html>` },
      { status: 200, body: `{"broken ${apiKey}` },
      { status: 200, body: `{"error":{"message":"${apiKey}"}}` },
      { ...ok, body: `data: {"broken ${apiKey}\n\n` },
      { status: 401, body: cut(500) },
      { ...ok, body: `data: ${cut(200)}\n\n` },
      { status: 200, body: `{"answer":"${cut(189)}"}` },
    ]
    const { model } = await start({ choose: 'requests', turns }, { apiKey })
    for (const _turn of turns) {
      const error = await failureOf(model.complete(request))
      expect(error.message).toContain('[API key]')
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('sk-')
    }
  })

  test('is taken out of an answer, wherever it stands', async () => {
    const answered = {
      content: `Key: ${apiKey}!`,
      message: { reasoning: apiKey },
      tool_calls: [{ name: 'n', arguments: { key: apiKey } }],
    }
    const { model } = await start([answered], { apiKey })
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
    const body = pieces.map((content) => event({ delta: { content } })).join('') + DONE
    const { model } = await start([{ status: 200, body, headers: STREAM }], { apiKey })
    const heard: string[] = []
    const answer = await model.complete(streamed, { onDelta: ({ content = '' }) => heard.push(content) })
    expect(heard.join('')).toBe('Key: [API key]! And sk-very good, sk-v')
    expect(answer.message.content).toBe(heard.join(''))
  })

  test('is a word like any other if it is a placeholder, as local servers take it', async () => {
    const { model } = await start([{ content: 'Install ollama.' }], { apiKey: 'ollama' })
    expect((await model.complete(request)).message.content).toBe('Install ollama.')
  })
})
