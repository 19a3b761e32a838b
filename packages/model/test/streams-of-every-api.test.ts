import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { startScriptedServer } from '@delta/testkit'
import { describe, expect, test } from 'vitest'
import { anthropicModel } from '../src/anthropic.js'
import { type ChatResponse, isModelError, type ModelDelta } from '../src/index.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'
import { FORMATS, toWire } from '../src/wire.js'
import { failureOf, readStream, STREAM, startServer } from './server.js'

const APIS = ['chat', 'responses', 'messages'] as const
type Api = (typeof APIS)[number]

const MODELS = {
  chat: openAiModel,
  responses: (options: OpenAiModelOptions) => openAiModel({ ...options, api: 'responses' }),
  messages: anthropicModel,
}

const request = { model: 'm', max_tokens: 9, messages: [{ role: 'user' as const, content: 'Go.' }] }
const streamed = { ...request, stream: true }

const TURN = {
  content: 'Two words, “ünï” 🦉.',
  message: { reasoning_content: 'Let me 🤔.' },
  tool_calls: [{ name: 'a', arguments: { text: 'x é' } }, { name: 'b' }],
}

const known = new Map<Api, string[]>()

/** The events of a streamed answer, as the scripted server spells them in this API. */
async function eventsOf(api: Api): Promise<string[]> {
  const events = known.get(api) ?? (await fetchEvents(api))
  known.set(api, events)
  return events
}

async function fetchEvents(api: Api): Promise<string[]> {
  await using server = await startScriptedServer([TURN])
  const path = FORMATS[api].path.replace('/v1/', '/')
  const body = JSON.stringify(toWire(api, streamed).body)
  const headers = { 'content-type': 'application/json', 'anthropic-version': '2026-10-21' }
  const answer = await fetch(`${server.baseUrl}${path}`, { method: 'POST', headers, body })
  return (await answer.text()).split(/(?<=\n\n)/)
}

/** A model behind a server that answers with these very bytes. */
async function modelBehind(api: Api, answer: (response: ServerResponse) => void, timeoutMs = 600_000) {
  const { baseUrl } = await startServer(answer)
  return MODELS[api]({ baseUrl, timeoutMs })
}

/** Reads events that are all there already: only the reader itself can let a signal through. */
function readAtHand(api: Api, events: Iterable<object>, signal?: AbortSignal): Promise<ChatResponse> {
  function* body() {
    for (const event of events) yield Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
  }
  return readStream(api, body(), signal ? { signal } : {})
}

/** How an API streams `count` parts, or one call whose arguments are these pieces, each with something around it. */
const STREAMED = {
  chat: {
    parts: (count: number) =>
      numbers(count).map((index) => ({
        choices: [{ delta: { reasoning_details: [{ index, type: 't', text: 'a' }] } }],
      })),
    *call(pieces: readonly string[], around: string) {
      for (const text of pieces) {
        const called = { index: 0, id: 'c', function: { name: 'n', arguments: text } }
        yield { id: around, choices: [{ delta: { tool_calls: [called] } }] }
      }
      yield { choices: [{ delta: {}, finish_reason: 'tool_calls' }] }
    },
  },
  responses: {
    parts: (count: number) =>
      numbers(count).map((output_index) => ({
        type: 'response.output_item.done',
        output_index,
        item: { type: 'message', role: 'assistant', content: [] },
      })),
    *call(pieces: readonly string[], around: string) {
      for (const delta of pieces) yield { type: 'response.function_call_arguments.delta', delta, around }
      const call = { type: 'function_call', call_id: 'c', name: 'n', arguments: pieces.join('') }
      yield { type: 'response.completed', response: { status: 'completed', output: [call] } }
    },
  },
  messages: {
    parts: (count: number) =>
      numbers(count).map((index) => ({
        type: 'content_block_start',
        index,
        content_block: { type: 'text', text: 'a' },
      })),
    *call(pieces: readonly string[], around: string) {
      yield { type: 'message_start', message: {} }
      yield { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'c', name: 'n' } }
      for (const partial_json of pieces)
        yield {
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json },
          around,
        }
      yield { type: 'message_delta', delta: { stop_reason: 'tool_use' } }
      yield { type: 'message_stop' }
    },
  },
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, number) => number)
}

/** The least processor time of three attempts. */
function costOf(work: () => void): number {
  return Math.min(
    ...numbers(3).map(() => {
      const before = process.cpuUsage()
      work()
      const { user, system } = process.cpuUsage(before)
      return user + system
    }),
  )
}

/** Reads a stream of these bytes that then ends, or breaks. */
async function read(api: Api, bytes: Uint8Array, end: () => void = () => undefined): Promise<ChatResponse> {
  async function* body() {
    if (bytes.length > 0) yield bytes // `Response` would wait for ever after an empty part
    end()
  }
  return readStream(api, body())
}

/** Only an error of ours counts as one. */
function failed(error: unknown): undefined {
  if (!isModelError(error)) throw error
}

function breakOff() {
  throw Object.assign(new Error('reset'), { code: 'ECONNRESET' })
}

describe.each(APIS)('a streamed answer of %s', (api) => {
  test('of many parts costs for each of them what it costs for one of few', () => {
    const cost = (count: number) => {
      const events = STREAMED[api].parts(count)
      return costOf(() => {
        const answer = FORMATS[api].startStream()
        for (const event of structuredClone(events)) answer.add(event)
      })
    }
    // 8, and 64 if each were compared with all; the system counts time in steps of milliseconds, so neither is short
    expect(cost(80_000)).toBeLessThan(cost(10_000) * 24)
  })

  test('ends with a signal, also if the server never lets go', async () => {
    const stop = new AbortController()
    function* endless() {
      yield { type: 'message_start', message: {} }
      for (const part of STREAMED[api].parts(100_000)) yield part
    }
    setImmediate(() => stop.abort(new Error('stopped')))
    await expect(readAtHand(api, endless(), stop.signal)).rejects.toThrow('stopped')
  })

  test('may have far more around its text than it may have of that', async () => {
    const pieces = ['{"a":"', ...numbers(1100).map((each) => `piece ${each} `), '"}']
    const { message } = await readAtHand(api, STREAMED[api].call(pieces, '.'.repeat(1 << 16)))
    expect(JSON.parse(message.tool_calls?.[0]?.function.arguments ?? '')).toEqual({
      a: pieces.slice(1, -1).join(''),
    })
  })

  test('is the one that is not streamed, and its text and reasoning are heard in pieces', async () => {
    await using server = await startScriptedServer([TURN])
    const model = MODELS[api]({ baseUrl: server.baseUrl })
    const heard: ModelDelta[] = []
    const answer = await model.complete(streamed, { onDelta: (delta) => heard.push(delta) })
    const raw = api === 'chat' ? { raw: answer.raw } : {} // the calls of a streamed one are numbered
    expect({ ...(await model.complete(request)), ...raw }).toEqual(answer)
    expect(answer).toMatchObject({ finishReason: 'tool_calls', model: 'm', usage: expect.any(Object) })
    expect(heard.length).toBeGreaterThan(6)
    expect(heard.map(({ content = '' }) => content).join('')).toBe(TURN.content)
    expect(heard.map(({ reasoning = '' }) => reasoning).join('')).toBe(TURN.message.reasoning_content)
  })

  const isReal = process.env.DELTA_TESTS === 'real' // then every byte

  test.each([
    ['ends', isReal ? 1 : 11, undefined, 'ERR_MODEL_RESPONSE'],
    ['breaks', isReal ? 7 : 37, breakOff, 'ERR_MODEL_CONNECTION'],
  ])(
    'that %s after any of its bytes (each %i. is tried) is whole, or an error',
    async (_how, step, end, code) => {
      const failed = (error: unknown) => void expect(error).toMatchObject({ code, retryable: true })
      const bytes = Buffer.from((await eventsOf(api)).join(''))
      const whole = await read(api, bytes)
      expect(whole.message.content).toBe(TURN.content)
      expect(whole.message.tool_calls).toHaveLength(2)
      let errors = 0
      for (let length = bytes.length % step; length <= bytes.length; length += step) {
        const answer = await read(api, bytes.subarray(0, length), end).catch(failed)
        if (answer === undefined) errors++
        else expect({ ...answer, raw: 0, usage: 0 }, `${length}`).toEqual({ ...whole, raw: 0, usage: 0 })
      }
      expect(errors).toBeGreaterThan(bytes.length / step / 2)
      expect((await read(api, bytes, end)).message).toEqual(whole.message)
    },
  )

  test('that is packed and loses its end is whole, or an error', async () => {
    const packed = gzipSync((await eventsOf(api)).join(''))
    let length = packed.length
    const headers = { ...STREAM, 'content-encoding': 'gzip' }
    const answer = (response: ServerResponse) =>
      response.writeHead(200, headers).end(packed.subarray(0, length))
    const model = await modelBehind(api, answer)
    const { message } = await model.complete(streamed)
    expect(message.content).toBe(TURN.content)
    let errors = 0
    for (length = 1; length < packed.length; length += 13) {
      const cut = await model.complete(streamed).catch(failed)
      if (cut === undefined) errors++
      else expect(cut.message, `${length}`).toEqual(message)
    }
    expect(errors).toBeGreaterThan(packed.length / 26)
  })

  test.each([true, false])('is complete with its last event, [DONE] sent: %s', async (isDoneSent) => {
    const events = (await eventsOf(api)).filter((event) => event.trim() !== 'data: [DONE]')
    const text = [...events, ...(isDoneSent ? ['data: [DONE]\n\n'] : [])].join('')
    const open = await modelBehind(api, (response) => {
      response.writeHead(200, STREAM).write(text)
      const alive = setInterval(() => response.write(': alive\n\ndata: {"type":"ping"}\n\n'), 100)
      response.once('close', () => clearInterval(alive))
    })
    const start = performance.now()
    expect((await open.complete(streamed)).message.content).toBe(TURN.content)
    expect(performance.now() - start).toBeLessThan(4000)

    const broken = await modelBehind(api, (response) =>
      response.writeHead(200, STREAM).write(text, () => response.socket?.resetAndDestroy()),
    )
    expect((await broken.complete(streamed)).message.content).toBe(TURN.content)
  })
})

test('a stream of chat is whole with its finish_reason, though neither counts nor [DONE] come', async () => {
  const events = (await eventsOf('chat')).filter((event) => !/\[DONE\]|"choices":\[\]/.test(event))
  const open = await modelBehind(
    'chat',
    (response) => response.writeHead(200, STREAM).write(events.join('')),
    500,
  )
  expect((await open.complete(streamed)).message.content).toBe(TURN.content)
  const broken = await modelBehind('chat', (response) =>
    response.writeHead(200, STREAM).write(events.join(''), () => response.socket?.resetAndDestroy()),
  )
  expect((await broken.complete(streamed)).message.content).toBe(TURN.content)
})

/** Events that say nothing, which servers and gateways send as signs of life. */
const SIGNS_OF_LIFE: Record<Api, unknown[]> = {
  chat: [{ choices: [] }, { choices: [{ index: 0, delta: { content: '' } }] }],
  responses: [
    { type: 'keepalive' },
    { type: 'response.in_progress', response: {} },
    { type: 'response.output_text.delta', output_index: 0, delta: '' },
  ],
  messages: [
    { type: 'ping' },
    { type: 'keepalive' },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: '' } },
  ],
}

describe.each(APIS)('a stream of %s that stops in its middle', (api) => {
  const signs = SIGNS_OF_LIFE[api].map((data) => `data: ${JSON.stringify(data)}\n\n`)
  test.each([
    ['is given up', []],
    ['is given up, though signs of life come again and again', ['\n', ': ping\n\n', ...signs]],
  ])('%s', async (_what, beats) => {
    const events = await eventsOf(api)
    const answer = (response: ServerResponse) => {
      response.writeHead(200, STREAM).write(events.slice(0, 3).join(''))
      const alive = setInterval(() => beats.forEach((beat) => void response.write(beat)), 20)
      response.once('close', () => clearInterval(alive))
    }
    const model = await modelBehind(api, answer, 200)
    const failure = await failureOf(model.complete(streamed))
    expect(failure).toMatchObject({ code: 'ERR_MODEL_TIMEOUT', retryable: true })
  })

  test('is waited for as long as parts of it come', async () => {
    const events = await eventsOf(api)
    const answer = (response: ServerResponse) => {
      const rest = [...events]
      response.writeHead(200, STREAM)
      const sending = setInterval(() => {
        response.write(rest.shift() ?? '')
        if (rest.length === 0) response.end(() => clearInterval(sending))
      }, 100)
    }
    const model = await modelBehind(api, answer, 700)
    expect((await model.complete(streamed)).message.content).toBe(TURN.content)
    expect(events.length).toBeGreaterThan(8)
  })
})
