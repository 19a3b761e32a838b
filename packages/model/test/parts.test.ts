import { expect, test } from 'vitest'
import type { Api, ChatMessage, ContentPart } from '../src/index.js'
import { asModelError, toWire } from '../src/internal.js'

const image: ContentPart = { type: 'image', blob: 'b', media_type: 'image/png', bytes: 5 }
const blobs = () => Buffer.from('bytes')
const BASE64 = blobs().toString('base64')

const looks = (...ids: string[]): ChatMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
})
const shows = (id: string, content: ContentPart[]): ChatMessage => ({
  role: 'tool',
  tool_call_id: id,
  content,
})
const bodyOf = (api: Api, messages: ChatMessage[]) => toWire(api, { model: 'm', messages }, blobs).body

test('a chat shows the pictures of all results behind them, each under the id of its call', () => {
  const results = [shows('a', [image]), shows('b', [{ type: 'text', text: 'none' }]), shows('c', [image])]
  const { messages } = bodyOf('chat', [looks('a', 'b', 'c'), ...results])
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${BASE64}` } }
  expect((messages as object[]).slice(1)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: '[image: see below]' }] },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'none' }] },
    { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text: '[image: see below]' }] },
    {
      role: 'user',
      content: [
        { type: 'text', text: '[result of a]' },
        picture,
        { type: 'text', text: '[result of c]' },
        picture,
      ],
    },
  ])
})

test('a part in the own words of an API goes to a chat as it is; another API refuses it by name', () => {
  const part = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const messages = [{ role: 'user', content: [part] }] as unknown as ChatMessage[]
  expect(bodyOf('chat', messages).messages).toEqual(messages)
  for (const api of ['responses', 'messages'] as const) {
    const expected = { code: 'ERR_MODEL_SETTINGS', message: expect.stringContaining('"image_url"') }
    expect(() => bodyOf(api, messages)).toThrow(expect.objectContaining(expected))
  }
})

test('Messages hears that a call failed only where its result is text: the API refuses more', () => {
  const failed = (content: ContentPart[]): ChatMessage[] => [
    looks('a'),
    { role: 'tool', tool_call_id: 'a', content, is_error: true },
  ]
  const text = { type: 'text', text: 'broken' } as const
  expect(JSON.stringify(bodyOf('messages', failed([text])))).toContain('"is_error":true')
  expect(JSON.stringify(bodyOf('messages', failed([text, image])))).not.toContain('is_error')
})

test('the error of another client counts by its status and by what it says of another attempt', () => {
  const error = (fields: object) => asModelError(Object.assign(new Error('No.'), fields))
  expect(error({ status: 401 })).toMatchObject({ code: 'ERR_MODEL_ACCESS', status: 401, retryable: false })
  expect(error({ statusCode: 503 })).toMatchObject({ code: 'ERR_MODEL_SERVER', retryable: true })
  expect(error({ statusCode: 503, isRetryable: false })).toMatchObject({ retryable: false })
  expect(error({})).toBeUndefined()
})
