import { describe, expect, test } from 'vitest'
import { fromAiSdk } from '../src/ai-sdk.js'
import { anthropicModel } from '../src/anthropic.js'
import { type OpenAiModelOptions, openAiModel } from '../src/openai.js'
import { fromWire } from '../src/wire.js'
import { failureOf, request, STREAM, startServer } from './server.js'

const KEY = 'sk-paid-0123456789'

const MODELS = {
  chat: openAiModel,
  responses: (options: OpenAiModelOptions) => openAiModel({ ...options, api: 'responses' }),
  messages: anthropicModel,
}

/** What each API reports, an answer that cannot be read, and the events of one that ends too early or fails. */
const PAID = {
  chat: {
    usage: { prompt_tokens: 900, completion_tokens: 20, note: 'k' },
    answer: { choices: [{ message: { role: 'assistant', tool_calls: 'none' } }] },
    cutOff: (paid: object) => [{ choices: [{ delta: { content: 'Half' } }], ...paid }],
    broken: (paid: object) => [
      { choices: [{ delta: { tool_calls: [{}] }, finish_reason: 'stop' }], ...paid },
    ],
  },
  responses: {
    usage: { input_tokens: 900, output_tokens: 20, input_tokens_details: { cached_tokens: 0 } },
    answer: { status: 'completed', output: 'none' },
    cutOff: (paid: object) => [
      { type: 'response.failed', response: { status: 'failed', error: { message: 'No.' }, ...paid } },
    ],
    broken: (paid: object) => [
      { type: 'response.completed', response: { output: [{ type: 'function_call' }], ...paid } },
    ],
  },
  messages: {
    usage: { input_tokens: 900, output_tokens: 20 },
    answer: { content: 'none' },
    cutOff: (paid: object) => [{ type: 'message_start', message: { content: [], ...paid } }],
    broken: (paid: object) => [
      { type: 'message_start', message: { content: [], ...paid } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use' } },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
      { type: 'message_stop' },
    ],
  },
} as const

/** The bytes of a stream. */
function streamOf(events: readonly object[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
}

const APIS = ['chat', 'responses', 'messages'] as const

describe.each(APIS)('an answer of %s that was paid for and cannot be used', (api) => {
  const { usage, answer, cutOff, broken } = PAID[api]
  const paid = { usage, model: 'm-2' }

  async function failure(body: string, headers: Record<string, string>) {
    const { baseUrl } = await startServer((response) => response.writeHead(200, headers).end(body))
    return failureOf(MODELS[api]({ baseUrl, apiKey: KEY }).complete(request))
  }

  test('tells its usage and its model in the error', async () => {
    const error = await failure(JSON.stringify({ ...answer, ...paid }), {
      'content-type': 'application/json',
    })
    expect(error).toMatchObject({ code: 'ERR_MODEL_RESPONSE', ...paid })
    expect(() => fromWire(api, { ...answer, ...paid })).toThrow(expect.objectContaining(paid))
  })

  test('tells both when its stream cannot be read', async () => {
    expect(await failure(streamOf(broken(paid)), STREAM)).toMatchObject({
      code: 'ERR_MODEL_RESPONSE',
      ...paid,
    })
  })

  test('tells both when its stream ends too early, or in an error', async () => {
    expect(await failure(streamOf(cutOff(paid)), STREAM)).toMatchObject(paid)
  })

  test('tells both when it holds an error of the server', async () => {
    const body = { error: { message: 'Overloaded.' }, ...paid }
    expect(await failure(JSON.stringify(body), { 'content-type': 'application/json' })).toMatchObject(paid)
  })

  test('tells neither when it says nothing of its cost', async () => {
    const error = await failure(JSON.stringify(answer), { 'content-type': 'application/json' })
    expect(error).toMatchObject({ code: 'ERR_MODEL_RESPONSE', usage: undefined, model: undefined })
  })

  test('hides a key in its usage', async () => {
    const said = { ...answer, usage: { ...usage, note: KEY }, model: KEY }
    const error = await failure(JSON.stringify(said), { 'content-type': 'application/json' })
    expect(error.usage).toMatchObject(
      Object.fromEntries(Object.entries(usage).filter(([name]) => name !== 'note')),
    )
    expect(JSON.stringify(error)).not.toContain(KEY)
  })

  test('leaves out a usage that is nested too deeply to be recorded', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
    const body = JSON.stringify({ ...answer, usage: { deep: 0 } }).replace('"deep":0', `"deep":${deep}`)
    expect((await failure(body, { 'content-type': 'application/json' })).usage).toBeUndefined()
  })
})

const TEXT = {
  chat: [
    { choices: [{ delta: { role: 'assistant', content: '' } }] },
    { choices: [{ delta: { content: 'Half' } }] },
  ],
  responses: [
    { type: 'response.created', response: { status: 'in_progress' } },
    { type: 'response.output_text.delta', output_index: 0, delta: 'Half' },
  ],
  messages: [
    { type: 'message_start', message: { content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ],
} as const

test.each(APIS)(
  'A stream of %s that breaks off in its text was paid for, and before it was not',
  async (api) => {
    for (const [events, usage] of [
      [TEXT[api].slice(0, 1), undefined],
      [TEXT[api], null],
    ] as const) {
      const endings = [
        (text: string) => text,
        (text: string) => `${text}data: {"error":{"message":"No."}}\n\n`,
      ]
      for (const ending of endings) {
        const body = ending(streamOf(events))
        const { baseUrl } = await startServer((response) => response.writeHead(200, STREAM).end(body))
        expect(await failureOf(MODELS[api]({ baseUrl }).complete(request))).toMatchObject({ usage })
      }
      const { baseUrl } = await startServer((response) => {
        response.writeHead(200, STREAM).write(streamOf(events))
      })
      const silent = await failureOf(MODELS[api]({ baseUrl, timeoutMs: 200 }).complete(request))
      expect(silent).toMatchObject({ code: 'ERR_MODEL_TIMEOUT', usage })
    }
  },
)

test('A stream that falls silent after its usage tells it in the error', async () => {
  const paid = { usage: PAID.messages.usage, model: 'm-2' }
  const { baseUrl } = await startServer((response) => {
    response.writeHead(200, STREAM).write(streamOf(PAID.messages.cutOff(paid)))
  })
  const error = await failureOf(anthropicModel({ baseUrl, timeoutMs: 200 }).complete(request))
  expect(error).toMatchObject({ code: 'ERR_MODEL_TIMEOUT', ...paid })
})

test('An answer of the AI SDK that ended in an error tells its usage', async () => {
  const model = fromAiSdk({
    specificationVersion: 'v3',
    provider: 'p',
    modelId: 'm',
    doGenerate: async () => ({
      content: [],
      finishReason: { unified: 'error', raw: undefined },
      usage: { inputTokens: { total: 900 }, outputTokens: { total: 20 } },
      response: { modelId: 'm-2' },
    }),
  })
  expect(await failureOf(model.complete(request))).toMatchObject({
    code: 'ERR_MODEL_RESPONSE',
    usage: { prompt_tokens: 900, completion_tokens: 20 },
    model: 'm-2',
  })
})
