import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ChatRequest, isModelError, streamingRequest } from '../src/index.js'
import { openAiModel } from '../src/openai.js'

const request: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'Go.' }] }
const STREAM = { 'content-type': 'text/event-stream' }

/** A model behind a server that answers with these very bytes. */
async function modelBehind(answer: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => answer(response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
  return openAiModel({ baseUrl })
}

async function failureOf(
  answer: Promise<unknown>,
): Promise<{ code: string; retryable: boolean; message: string }> {
  const error = await answer.then(
    (value) => new Error(`answered with ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  if (!isModelError(error)) throw error
  const { code, retryable, message } = error
  return { code, retryable, message: message.replace(/http:\S+/, '<url>') }
}

const NOT_UTF8 = {
  code: 'ERR_MODEL_RESPONSE',
  retryable: true,
  message:
    '<url> answered with bytes that are not UTF-8, so part of the answer is unknown. What arrived was discarded.',
}

function plain(message: unknown, reason = 'stop'): string {
  return JSON.stringify({ choices: [{ index: 0, message, finish_reason: reason }] })
}

function event(choice: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`
}

function callEvent(call: object): string {
  return event({ delta: { tool_calls: [{ index: 0, ...call }] } })
}

const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

describe('an answer that is not used, and asked for again', () => {
  test('holds bytes that are no UTF-8 text, whole or streamed', async () => {
    const bytes = Buffer.from(plain({ role: 'assistant', content: 'caf\xe9' }), 'latin1')
    const whole = await modelBehind((response) => response.end(bytes))
    expect(await failureOf(whole.complete(request))).toEqual(NOT_UTF8)

    const streamed = await modelBehind((response) =>
      response.writeHead(200, STREAM).end(Buffer.from(event({ delta: { content: 'caf\xe9' } }), 'latin1')),
    )
    expect(await failureOf(streamed.complete(streamingRequest(request)))).toEqual(NOT_UTF8)
  })

  test('is nested so deeply that nobody could write it down', async () => {
    const deep = plain({ content: 'x', extra: 0 }).replace('"extra":0', `"extra":${nested(50_000)}`)
    const model = await modelBehind((response) => response.end(deep))
    expect(await failureOf(model.complete(request))).toEqual({
      code: 'ERR_MODEL_RESPONSE',
      retryable: true,
      message: 'The answer is not a chat completion: it is nested more than 200 levels deep.',
    })
  })

  test.each([
    [{ content: 5 }, 'its content is neither a text nor a list of parts. It says: 5'],
    [
      { content: 'x', tool_calls: { id: 'a' } },
      'its tool_calls are not a list of calls. It says: {"id":"a"}',
    ],
    [{ content: null, tool_calls: [null] }, 'its tool_calls are not a list of calls. It says: [null]'],
    [
      { tool_calls: [{ name: 'ls', arguments: {} }] },
      'a call has no "function" with its name and arguments. It says: {"name":"ls","arguments":{}}',
    ],
    [
      { content: '', tool_calls: [] },
      'its finish_reason is "tool_calls", and there is neither a call nor a text. It says: {"content":"","tool_calls":[]}',
    ],
    [
      { function_call: { name: 'n', arguments: '{}' }, content: null },
      'its finish_reason is "function_call", and there is neither a call nor a text. It says: {"function_call":{"name":"n","arguments":"{}"},"content":null}',
    ],
    [
      { content: '' },
      'its finish_reason is "function_call_filter: MALFORMED_FUNCTION_CALL", and there is neither a call nor a text. It says: {"content":""}',
    ],
    [
      { function_call: { name: 'n', arguments: '{}' }, content: 'I look.' },
      'its call is a "function_call", and not one of "tool_calls". It says: {"function_call":{"name":"n","arguments":"{}"},"content":"I look."}',
    ],
  ])('has a message that cannot be read: %j', async (message, what) => {
    const reason = /finish_reason is "([^"]+)"/.exec(what)?.[1] ?? 'stop'
    const model = await modelBehind((response) => response.end(plain(message, reason)))
    expect((await failureOf(model.complete(request))).message).toBe(
      `The answer is not a chat completion: ${what}`,
    )
  })

  test('is another protocol: the connection is closed, though the server keeps it open', async () => {
    let closed: Promise<unknown> | undefined
    const model = await modelBehind(({ socket }) => {
      closed = socket ? once(socket, 'close') : undefined
      socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    expect(await failureOf(model.complete(request))).toMatchObject({
      code: 'ERR_MODEL_CONNECTION',
      retryable: true,
      message: expect.stringContaining('another protocol than HTTP (status 101)'),
    })
    await closed
  })
})

test('an answer that is not what it says it is packed as is asked for again', async () => {
  const model = await modelBehind((response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(plain({ content: 'Hello.' })),
  )
  expect(await failureOf(model.complete(request))).toEqual({
    code: 'ERR_MODEL_CONNECTION',
    retryable: true,
    message:
      '<url> broke off in the middle of its answer: incorrect header check (Z_DATA_ERROR)\nWhat arrived was discarded.',
  })
})

describe('an answer without end', () => {
  const tooLong = {
    code: 'ERR_MODEL_RESPONSE',
    retryable: false,
    message:
      '<url> sent too much to be an answer. It is longer than 64 MiB. What arrived was discarded.\n' +
      'Check that the base URL is that of a chat-completions API, and whether a proxy stands in between.',
  }

  /** Sends the same bytes until nobody takes them any more. */
  function sendForEver(response: ServerResponse, piece: string): void {
    const send = () => {
      while (!response.destroyed && response.write(piece));
    }
    response.on('drain', send)
    send()
  }

  test('is given up, whole or streamed', async () => {
    const whole = await modelBehind((response) => sendForEver(response, 'x'.repeat(1 << 20)))
    expect(await failureOf(whole.complete(request))).toEqual(tooLong)

    const piece = event({ delta: { content: 'x'.repeat(1 << 20) } })
    const streamed = await modelBehind((response) => sendForEver(response.writeHead(200, STREAM), piece))
    expect(await failureOf(streamed.complete(streamingRequest(request)))).toEqual(tooLong)
  })

  test('is given up where few bytes unpack to many', async () => {
    const bomb = gzipSync(plain({ content: 'x'.repeat(65 << 20) }))
    const model = await modelBehind((response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    )
    expect(await failureOf(model.complete(request))).toEqual(tooLong)
  })
})

describe('a refusal is told as what it is', () => {
  const refused = '{"error":{"message":"Wrong key."}'
  const begin = (response: ServerResponse) =>
    response.writeHead(401, { 'content-length': 999 }).write(refused)

  test.each<[string, (response: ServerResponse) => void]>([
    ['never ends', begin],
    ['breaks off', (response) => begin(response) && setImmediate(() => response.destroy())],
  ])('with what came of an explanation that %s', async (_how, answer) => {
    const model = await modelBehind(answer)
    const { code, message } = await failureOf(model.complete(request))
    expect(code).toBe('ERR_MODEL_ACCESS')
    expect(message).toContain(`<url> refused access (401): ${refused}\n`)
  })

  test('with the beginning of an explanation without end', async () => {
    const model = await modelBehind((response) => {
      response.writeHead(400)
      const more = () => {
        while (response.writable && response.write('spam '.repeat(10_000))) void 0
      }
      response.on('drain', more)
      more()
    })
    const { message } = await failureOf(model.complete(request))
    expect(message).toContain(`<url> refused the request (400): ${'spam '.repeat(100)}…\n`)
  })
})

describe('an answer that is read', () => {
  test('may be compressed though nobody asked for it, whole or streamed', async () => {
    for (const [coding, pack] of [
      ['gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      const packed = { 'content-encoding': coding }
      const whole = await modelBehind((response) =>
        response.writeHead(200, packed).end(pack(plain({ content: 'Hello.' }))),
      )
      expect((await whole.complete(request)).message.content).toBe('Hello.')

      const body = `${event({ delta: { content: 'Hello.' } })}data: [DONE]\n\n`
      const streamed = await modelBehind((response) =>
        response.writeHead(200, { ...STREAM, ...packed }).end(pack(body)),
      )
      expect((await streamed.complete(streamingRequest(request))).message.content).toBe('Hello.')
    }
  })

  test('may begin with a byte order mark', async () => {
    const model = await modelBehind((response) => response.end(`\uFEFF${plain({ content: 'Hello.' })}`))
    expect((await model.complete(request)).message.content).toBe('Hello.')
  })

  test('may be streamed though nobody asked for it, and under another type', async () => {
    const body = `: alive\n\n${event({ delta: { content: 'Hello.' } })}data: [DONE]\n\n`
    for (const type of ['text/event-stream', 'text/plain', 'application/json']) {
      const model = await modelBehind((response) =>
        response.writeHead(200, { 'content-type': type }).end(body),
      )
      expect((await model.complete(request)).message.content).toBe('Hello.')
    }
  })

  test('is complete with [DONE], though the stream is left open or breaks', async () => {
    const body = `${event({ delta: { content: 'Hello.' } })}data: [DONE]\n\n`
    const open = await modelBehind((response) => response.writeHead(200, STREAM).write(body))
    expect((await open.complete(streamingRequest(request))).message.content).toBe('Hello.')

    const broken = await modelBehind((response) =>
      response.writeHead(200, STREAM).write(body, () => response.socket?.resetAndDestroy()),
    )
    expect((await broken.complete(streamingRequest(request))).message.content).toBe('Hello.')
  })

  test('may cut a name, repeat it, or number every call 0', async () => {
    const body = [
      callEvent({ id: 'c1', function: { name: 'echo', arguments: '{"a"' } }),
      callEvent({ function: { name: '_it' } }),
      callEvent({ function: { arguments: ':1}' } }),
      callEvent({ id: 'c2', function: { name: 'look', arguments: '{' } }),
      callEvent({ id: 'c2', function: { name: 'look', arguments: '}' } }),
      event({ delta: {}, finish_reason: 'tool_calls' }),
    ]
    const model = await modelBehind((response) => response.writeHead(200, STREAM).end(body.join('')))
    const { message } = await model.complete(streamingRequest(request))
    expect(message.tool_calls?.map((call) => [call.id, call.function])).toEqual([
      ['c1', { name: 'echo_it', arguments: '{"a":1}' }],
      ['c2', { name: 'look', arguments: '{}' }],
    ])
  })

  test('is one choice where several come mixed', async () => {
    const both = [0, 1].map((index) => event({ index, delta: { content: `I am ${index}.` } }))
    const model = await modelBehind((response) =>
      response.writeHead(200, STREAM).end(`${both.join('')}data: [DONE]\n\n`),
    )
    expect((await model.complete(streamingRequest(request))).message.content).toBe('I am 0.')
  })
})
