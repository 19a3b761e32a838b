import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { createOpenAICompatible as createVersion4 } from '@ai-sdk/openai-compatible-4'
import { type ScriptedTurn, type ServerScript, startScriptedServer } from '@delta/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { fromAiSdk } from '../src/ai-sdk.js'
import { type ChatMessage, isModelError, normaliseUsage, retryDelayMs } from '../src/index.js'

const PNG = Buffer.from('89504e470d0a1a0a', 'hex')
const PICTURE = { type: 'image', blob: 'a'.repeat(64), media_type: 'image/png', bytes: PNG.length } as const
const TOOL = {
  type: 'function',
  function: { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } },
} as const

const versions = {
  3: (baseURL: string) => createOpenAICompatible({ name: 'local', baseURL })('m'),
  4: (baseURL: string) => createVersion4({ name: 'local', baseURL })('m'),
}

describe.each([3, 4] as const)('a model of version %i of the AI SDK', (version) => {
  async function start(script: readonly ScriptedTurn[] | ServerScript) {
    const server = await startScriptedServer(script)
    onTestFinished(() => server.close())
    return { server, model: fromAiSdk(versions[version](server.baseUrl)) }
  }

  test('answers a conversation with parallel calls, an image, reasoning, and usage', async () => {
    const { server, model } = await start([
      {
        content: 'I look.',
        message: { reasoning_content: 'Two eyes.' },
        tool_calls: [{ name: 'look' }, { name: 'look', id: 'its_own-1' }],
      },
      { content: 'A dot.' },
    ])
    const messages: ChatMessage[] = [
      { role: 'system', content: 'See.' },
      { role: 'user', content: [{ type: 'text', text: 'Look.' }, PICTURE] },
    ]
    const heard: unknown[] = []
    const asked = { blobs: () => PNG, onDelta: (delta: unknown) => heard.push(delta) }
    const first = await model.complete({ messages, tools: [TOOL] }, asked)
    expect(heard).toEqual([{ content: 'I look.', reasoning: 'Two eyes.' }])
    expect(first.finishReason).toBe('tool_calls')
    expect(first.message).toMatchObject({ content: 'I look.', items: { api: 'ai-sdk' } })
    expect(normaliseUsage(first.usage)).toMatchObject({ cache_read: 0, input: expect.any(Number) })

    const renamed = first.message.tool_calls?.map((call, at) => ({ ...call, id: `own-${at}` })) ?? []
    messages.push({ ...first.message, tool_calls: renamed })
    messages.push({ role: 'tool', tool_call_id: 'own-0', content: 'dark' })
    messages.push({ role: 'tool', tool_call_id: 'own-1', content: 'too dark', is_error: true })
    const last = await model.complete({ messages, tools: [TOOL] }, { blobs: () => PNG })
    expect(last.message.content).toBe('A dot.')

    const [, second] = server.requests()
    const sent = second?.json?.messages ?? []
    expect(sent.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'tool', 'tool'])
    const ids = first.message.tool_calls?.map(({ id }) => id)
    expect(sent.slice(3).map((message) => message.tool_call_id)).toEqual(ids)
    expect(JSON.stringify(sent)).toContain(PNG.toString('base64'))
    expect(JSON.stringify(sent[2])).toContain('Two eyes.')
  })

  test('a status is the error that it is without the AI SDK', async () => {
    const statuses = [
      [429, 'ERR_MODEL_RATE_LIMIT', true],
      [401, 'ERR_MODEL_ACCESS', false],
      [503, 'ERR_MODEL_SERVER', true],
    ] as const
    const { model } = await start({ choose: 'requests', turns: statuses.map(([status]) => ({ status })) })
    for (const [status, code, isRetried] of statuses) {
      const asked = model.complete({ messages: [{ role: 'user', content: 'Hi' }] })
      const error = await asked.catch((e: unknown) => e)
      expect(error).toMatchObject({ code, status })
      expect(retryDelayMs(1, error) !== undefined).toBe(isRetried)
    }
  })

  test('a server that is not there is a connection error that may pass', async () => {
    const model = fromAiSdk(versions[version]('http://127.0.0.1:9/v1'))
    const error = await model
      .complete({ messages: [{ role: 'user', content: 'Hi' }] })
      .catch((e: unknown) => e)
    expect(isModelError(error) && error.code).toBe('ERR_MODEL_CONNECTION')
    expect(error).toMatchObject({ retryable: true })
  })

  test('what another API answered goes as text and calls, and the rest is said to be left out', () => {
    const message: ChatMessage = {
      role: 'assistant',
      content: 'So.',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: '{"far":true}' } }],
      items: { api: 'messages', list: [{ type: 'thinking', thinking: 'Hm.' }] },
      iteration: 3,
    }
    const wire = fromAiSdk(versions[version]('http://127.0.0.1:9/v1')).toWire?.({ messages: [message] })
    expect(wire).toMatchObject({ api: 'ai-sdk', leftOut: [{ iteration: 3, api: 'messages', items: 1 }] })
    expect(wire?.body.prompt).toEqual([
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'So.' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { far: true } },
        ],
      },
    ])
  })
})
