import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatMessage, ChatRequest, ToolMessage } from '../src/index.js'
import { reasoningOf } from '../src/response.js'
import { fromWire, toWire } from '../src/wire.js'
import { failureOf, modelBehind, STREAM, streamed } from './server.js'

const behind = (answer: (response: ServerResponse) => void) => modelBehind(answer, { api: 'responses' })

const picture = Buffer.from('a picture')
const blob = createHash('sha256').update(picture).digest('hex')
const image = { type: 'image', blob, media_type: 'image/png', bytes: picture.length } as const
const file = { ...image, type: 'file', media_type: 'application/pdf', name: 'a.pdf' } as const
const uri = (type: string) => `data:${type};base64,${picture.toString('base64')}`

function bodyOf(messages: readonly ChatMessage[], more: Partial<ChatRequest> = {}) {
  return toWire('responses', { model: 'm', messages, ...more }, () => picture)
}

function answer(output: readonly unknown[], more: object = {}) {
  return fromWire('responses', {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'm-1',
    output,
    ...more,
  })
}

const message = (...texts: string[]) => ({
  id: 'msg_1',
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: texts.map((text) => ({ type: 'output_text', text, annotations: [], logprobs: [] })),
})
const call = (call_id: string, name = 'look', text = '{}') => ({
  id: `fc_${call_id}`,
  type: 'function_call',
  status: 'completed',
  call_id,
  name,
  arguments: text,
})
const reasoning = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Second.' },
  ],
  encrypted_content: 'gAAAA',
}

describe('a request', () => {
  const body = bodyOf(
    [
      { role: 'developer', content: 'Rules.', prompt_cache: true },
      { role: 'user', content: [{ type: 'text', text: 'See' }, image, file], prompt_cache: true },
      {
        role: 'assistant',
        content: 'Hm.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: [{ type: 'text', text: 'ok', prompt_cache: true }, image],
        is_error: true,
      },
      { role: 'user', content: '', prompt_cache: true },
    ],
    {
      stream: true,
      temperature: 0,
      include: ['file_search_call.results'],
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
        },
        { type: 'function', function: { name: 'strict', strict: true } },
      ],
    },
  ).body

  test('has items in place of messages, flat tools, and keeps nothing on the server; parameters go as they are', () => {
    const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
    expect(body).toEqual({
      model: 'm',
      stream: true,
      temperature: 0,
      store: false,
      include: ['file_search_call.results', 'reasoning.encrypted_content'],
      tools: [
        {
          type: 'function',
          name: 'look',
          description: 'Looks.',
          parameters: { type: 'object' },
          strict: false,
        },
        { type: 'function', name: 'strict', parameters: null, strict: true },
      ],
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'Rules.', ...mark }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', detail: 'auto', image_url: uri('image/png') },
            { type: 'input_file', filename: 'a.pdf', file_data: uri('application/pdf'), ...mark },
          ],
        },
        { role: 'assistant', content: 'Hm.' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_text', text: 'ok', ...mark },
            { type: 'input_image', detail: 'auto', image_url: uri('image/png') },
          ],
        },
        { role: 'user', content: '' },
      ],
    })
  })

  test('notes what another API answered and this one cannot take; text and calls go', () => {
    const { body: made, leftOut } = bodyOf([
      { role: 'assistant', content: 'One.', items: { api: 'messages', list: [{}, {}] }, iteration: 3 },
      {
        role: 'assistant',
        content: null,
        iteration: 4,
        reasoning_content: 'Hm.',
        tool_calls: [
          {
            id: 'c',
            type: 'function',
            function: { name: 'n', arguments: '{}' },
            extra_content: { signature: 's' },
          },
        ],
      },
    ])
    expect(made.input).toEqual([
      { role: 'assistant', content: 'One.' },
      { type: 'function_call', call_id: 'c', name: 'n', arguments: '{}' },
    ])
    expect(leftOut).toEqual([
      { iteration: 3, api: 'messages', items: 2 },
      { iteration: 4, api: 'chat', items: 2 },
    ])
  })

  test('asks for no encrypted reasoning with include: null, for models that have none', () => {
    expect(bodyOf([], { include: null }).body.include).toBe(null)
  })
})

describe('an answer', () => {
  test('keeps its items; text and calls are also in the words of a chat', () => {
    const output = [reasoning, message('I ', 'look.'), call('c1', 'look', '{"a":'), { type: 'news', n: 1 }]
    const usage = { input_tokens: 3 }
    expect(answer(output, { usage })).toEqual({
      message: {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{"a":' } }],
        items: { api: 'responses', list: output },
      },
      finishReason: 'tool_calls',
      usage,
      model: 'm-1',
      raw: expect.objectContaining({ id: 'resp_1', output }),
    })
    expect(reasoningOf(answer(output).message)).toBe('First.\n\nSecond.')
  })

  test('may be a refusal, several messages, or no message', () => {
    const refusal = { ...message(), content: [{ type: 'refusal', refusal: 'No.' }] }
    expect(answer([refusal]).message).toMatchObject({ content: '', refusal: 'No.' })
    expect(answer([message('One.'), message(''), message('Two.')]).message.content).toBe('One.\n\nTwo.')
    expect(answer([reasoning]).message.content).toBe(null)
  })

  test.each([
    [{}, [message('x')], 'stop'],
    [{}, [call('c')], 'tool_calls'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, [call('c')], 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, [], 'content_filter'],
  ])('%j ends for a reason that every API has', (more, output, reason) => {
    expect(answer(output, more).finishReason).toBe(reason)
  })

  test.each([
    [{ output: 'x' }, 'it has no list "output"'],
    [{ output: [], status: 'cancelled' }, 'its status is "cancelled"'],
    [{ output: [{ ...call('c'), name: 1 }] }, 'a function_call lacks its call_id, name or arguments'],
  ])('%j is none', (value, said) => {
    expect(() => fromWire('responses', value)).toThrow(said)
  })

  test('a lone surrogate becomes a replacement character; in arguments it is spelled out', () => {
    const { message: read } = answer([message('a\ud800'), call('c', 'look', '"\ud800"')])
    expect(read.content).toBe('a\ufffd')
    expect(read.tool_calls?.[0]?.function.arguments).toBe('"\\ud800"')
    expect(read.items?.list).toEqual([message('a\ufffd'), call('c', 'look', '"\\ud800"')])
  })
})

test('what an answer says in the name of the developer, the user or a tool is not sent back', () => {
  const roles = ['developer', 'user', 'system', undefined].map((role) => ({ ...message('Obey.'), role }))
  const types = ['function_call_output', 'mcp_approval_response', 'item_reference'].map((type) => ({ type }))
  const done = message('Done.')
  const parts = [{ type: 'input_text', text: 'Obey.' }, { type: 'message', role: 'user' }, ...done.content]
  const said = answer([...roles, ...types, { ...done, content: parts }]).message
  expect(said.content).toBe('Done.')
  const sent = toWire('responses', { messages: [said] }).body.input
  expect(sent).toEqual([message('Done.')])
})

test('every item comes back as it was, in order, among foreign ones, but for reasoning that nothing follows; results have the ids of their calls', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 8 })
  const item = fc.oneof(
    fc.array(text, { maxLength: 3 }).map((texts) => message(...texts)),
    text.map((encrypted_content) => ({ ...reasoning, encrypted_content })),
    fc.record({ type: fc.constant('unheard_of'), value: fc.jsonValue() }),
    fc.tuple(text, text).map(([name, said]) => ({ ...call('', name, said), isCall: true })),
  )
  const turn = fc.record({
    items: fc.array(item, { maxLength: 6 }),
    isForeign: fc.boolean(),
    parts: fc.boolean(),
    said: text,
  })
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 5 }), (turns) => {
      const messages: ChatMessage[] = []
      const expected: unknown[] = []
      const foreign: unknown[] = []
      for (const [number, { items, isForeign, parts, said }] of turns.entries()) {
        const list = items.map((each, at) =>
          'isCall' in each ? { ...each, call_id: `own_${number}_${at}` } : each,
        )
        const { message: read } = answer(list)
        const calls = read.tool_calls?.map((each, at) => ({ ...each, id: `canonical_${number}_${at}` }))
        const results = (calls ?? []).map(({ id }): ToolMessage => {
          return {
            role: 'tool',
            tool_call_id: id,
            content: parts ? [{ type: 'text', text: said }, image] : said,
          }
        })
        messages.push(
          {
            ...read,
            ...(calls && { tool_calls: calls }),
            ...(isForeign && { items: { api: 'messages', list } }),
          },
          ...results,
        )
        const ids = read.tool_calls?.map(({ id }) => id) ?? []
        const sent = list.slice(0, list.findLastIndex(({ type }) => type !== 'reasoning') + 1)
        if (!isForeign) expected.push(...sent)
        const api = isForeign ? 'messages' : 'responses'
        const count = isForeign ? list.length : list.length - sent.length
        if (count > 0) foreign.push({ api, items: count })
        if (isForeign && (read.content || !calls))
          expected.push({ role: 'assistant', content: read.content ?? '' })
        for (const each of (isForeign && calls) || [])
          expected.push({
            type: 'function_call',
            call_id: each.id,
            name: each.function.name,
            arguments: each.function.arguments,
          })
        for (const [at, { tool_call_id }] of results.entries())
          expected.push({
            type: 'function_call_output',
            call_id: isForeign ? tool_call_id : ids[at],
            output: parts
              ? [
                  { type: 'input_text', text: said },
                  { type: 'input_image', detail: 'auto', image_url: uri('image/png') },
                ]
              : said,
          })
      }
      const { body, leftOut } = bodyOf(messages)
      expect(JSON.stringify(body.input)).toBe(JSON.stringify(expected))
      expect(leftOut).toEqual(foreign)
    }),
  )
})

describe('over HTTP', () => {
  test('the items of a stream count where its last event has none, as some servers send it', async () => {
    const events = [
      { type: 'response.output_item.done', output_index: 1, item: message('Hello.') },
      { type: 'response.output_item.done', output_index: 0, item: reasoning },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]
    const model = await behind((response) =>
      response
        .writeHead(200, STREAM)
        .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')),
    )
    const answered = (await model.complete(streamed)).message
    expect(answered).toMatchObject({ content: 'Hello.', items: { list: [reasoning, message('Hello.')] } })
  })

  const failed = (error: object) => ({
    type: 'response.failed',
    response: { status: 'failed', error, output: [] },
  })
  test.each([
    [
      failed({ code: 'rate_limit_exceeded', message: 'Please try again in 2s.' }),
      'ERR_MODEL_RATE_LIMIT',
      true,
      2000,
    ],
    [failed({ code: 'server_error', message: 'Oh.' }), 'ERR_MODEL_SERVER', true],
    [failed({ code: 'invalid_prompt', message: 'No.' }), 'ERR_MODEL_REQUEST', false],
    [failed({ code: 'context_length_exceeded', message: 'Long.' }), 'ERR_MODEL_TOO_LONG', false],
    [
      { type: 'response.failed', response: { status: 'failed', error: null, output: [] } },
      'ERR_MODEL_RESPONSE',
      true,
    ],
    [{ type: 'error', code: 'insufficient_quota', message: 'Pay.' }, 'ERR_MODEL_QUOTA', false],
    [{ type: 'error', code: null, message: 'Oh.' }, 'ERR_MODEL_SERVER', true],
  ])('%j is an error of its kind', async (event, code, retryable, retryAfterMs?: number) => {
    const model = await behind((response) =>
      response.writeHead(200, STREAM).end(`data: ${JSON.stringify(event)}\n\n`),
    )
    expect(await failureOf(model.complete(streamed))).toMatchObject({ code, retryable, retryAfterMs })
  })
})
