import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelDelta } from '../src/index.js'
import { reasoningOf } from '../src/response.js'
import { readStream } from './server.js'

/** Reads a stream of events with these data. */
function readEvents(events: readonly string[], onDelta?: (delta: ModelDelta) => void) {
  const pieces = events.map((data) => Buffer.from(`data: ${data}\n\n`))
  return readStream('chat', pieces, onDelta ? { onDelta } : {})
}

async function read(...deltas: object[]) {
  const chunks = deltas.map((delta) => JSON.stringify({ id: 'c1', choices: [{ index: 0, delta }] }))
  return (await readEvents([...chunks, '[DONE]'])).message
}

describe('an event stream', () => {
  const delta = (content: string) => JSON.stringify({ choices: [{ delta: { content } }] })
  const text = `event: x\ndata: ${delta('a')}\n\n: comment\n\nid: 5\r\ndata:${delta('ä€')}\r\n\r\ndata: [DONE]`

  test.each([1, 7, 1000])('is read from pieces of %i bytes, to an event that is not closed', async (size) => {
    const bytes = new TextEncoder().encode(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.slice(index * size, (index + 1) * size),
    )
    expect((await readStream('chat', pieces)).message.content).toBe('aä€')
  })
})

test('any text, cut anywhere into events and bytes, arrives as it was', async () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(text, { minLength: 1 }),
      fc.array(text),
      fc.integer({ min: 1, max: 40 }),
      async (texts, values, size) => {
        const deltas = [
          ...texts.map((content) => ({ content })),
          ...values.map((value) => ({
            tool_calls: [{ index: 0, id: 'a', function: { name: 'n', arguments: value } }],
          })),
        ]
        const chunks = deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`)
        const bytes = Buffer.from(`${chunks.join('')}data: [DONE]\n\n`)
        const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
          bytes.subarray(index * size, (index + 1) * size),
        )
        const heard: string[] = []
        const onDelta = ({ content }: ModelDelta) => content && heard.push(content)
        const { message } = await readStream('chat', pieces, { onDelta })

        expect(heard.join('')).toBe(texts.join(''))
        expect(message.content).toBe(texts.join(''))
        expect(message.tool_calls?.[0]?.function.arguments).toBe(
          values.length === 0 ? undefined : values.join(''),
        )
      },
    ),
  )
})

describe('pieces of a message', () => {
  test('texts grow under whatever name the provider gives them', async () => {
    expect(
      await read(
        { role: 'assistant', content: '' },
        { reasoning: 'Let' },
        { reasoning: ' me', content: null },
        { content: 'Hel', refusal: null },
        { content: 'lo' },
      ),
    ).toEqual({ role: 'assistant', content: 'Hello', reasoning: 'Let me' })
  })

  test('interleaved calls are put together by index; ids and names that are repeated count once', async () => {
    expect(
      await read(
        { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '' } }] },
        {
          tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'two', arguments: '{"y"' } }],
        },
        { tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x":' } }] },
        {
          tool_calls: [
            { index: 1, id: '', function: { arguments: ':2}' } },
            { index: 0, function: { arguments: '1}' } },
          ],
        },
      ),
    ).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'two', arguments: '{"y":2}' } },
      ],
    })
  })

  test('a name may be cut or repeated, and every call may be numbered 0', async () => {
    const piece = (call: object) => ({ tool_calls: [{ index: 0, ...call }] })
    const { tool_calls } = await read(
      piece({ id: 'c1', function: { name: 'echo', arguments: '{"a"' } }),
      piece({ function: { name: '_it' } }),
      piece({ function: { arguments: ':1}' } }),
      piece({ id: 'c2', function: { name: 'look', arguments: '{' } }),
      piece({ id: 'c2', function: { name: 'look', arguments: '}' } }),
    )
    expect(tool_calls?.map((call) => [call.id, call.function])).toEqual([
      ['c1', { name: 'echo_it', arguments: '{"a":1}' }],
      ['c2', { name: 'look', arguments: '{}' }],
    ])
  })

  test('calls without an index are told apart by their ids', async () => {
    const call = (id: string, text: string) => ({
      tool_calls: [{ id, function: { name: 'n', arguments: text } }],
    })
    const { tool_calls } = await read(call('a', '{}'), call('b', '{"x":'), call('b', '1}'))
    expect(tool_calls?.map(({ id, function: { arguments: text } }) => [id, text])).toEqual([
      ['a', '{}'],
      ['b', '{"x":1}'],
    ])
  })

  test('a call without index and id goes on with the one before it, and a further one has a name', async () => {
    const call = (fields: object, text: string) => ({
      tool_calls: [{ ...fields, function: { name: 'n', arguments: text } }],
    })
    const rest = (text: string) => ({ tool_calls: [{ function: { arguments: text } }] })
    const { tool_calls } = await read(
      call({ id: 'a', extra_content: { signature: 's' } }, '{"x":'),
      rest('1}'),
      call({}, '{"y":'),
      rest('2}'),
      { tool_calls: [{ extra_content: { signature: 't' } }] },
    )
    expect(tool_calls).toEqual([
      {
        id: 'a',
        type: 'function',
        function: { name: 'n', arguments: '{"x":1}' },
        extra_content: { signature: 's' },
      },
      {
        id: '',
        type: 'function',
        function: { name: 'n', arguments: '{"y":2}' },
        extra_content: { signature: 't' },
      },
    ])
  })

  test.each([
    ['{"x":1}', '{"x":2}'],
    [{ x: 1 }, { x: 2 }],
  ])('whole calls that are all numbered 0 and have no id are several: %j', async (...values) => {
    const deltas = values.map((value) => ({
      tool_calls: [{ index: 0, id: '', function: { name: 'n', arguments: value } }],
    }))
    const { tool_calls } = await read(...deltas)
    expect(tool_calls?.map((call) => call.function.arguments)).toEqual(['{"x":1}', '{"x":2}'])
  })

  test('a text that comes partly as parts is all of it, and is heard', async () => {
    const deltas = [
      { content: 'One' },
      { content: [{ type: 'text', text: ', two' }] },
      { content: ', three' },
    ]
    const chunks = deltas.map((delta) => JSON.stringify({ choices: [{ delta }] }))
    const heard: string[] = []
    const { message } = await readEvents(
      [...chunks, '[DONE]'],
      ({ content }) => content && heard.push(content),
    )
    expect([message.content, heard]).toEqual(['One, two, three', ['One', ', two', ', three']])
  })

  test.each(['text', 'summary', 'data', 'thinking', 'content'])(
    'reasoning in numbered parts comes back whole, with its signature: %s',
    async (name) => {
      const part = (fields: object) => ({
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f', ...fields }],
      })
      expect(
        await read(part({ [name]: 'Let' }), part({ [name]: ' me' }), part({ signature: 'sig' }), {
          content: 'Hi',
        }),
      ).toEqual({
        role: 'assistant',
        content: 'Hi',
        reasoning_details: [
          { type: 'reasoning.text', index: 0, format: 'f', [name]: 'Let me', signature: 'sig' },
        ],
      })
    },
  )
})

test('a stream is complete with a finish_reason or with [DONE], and keeps what surrounds the choices', async () => {
  const chunk = (choice: object, more: object = {}) =>
    JSON.stringify({ id: 'c1', model: 'm', choices: [choice], ...more })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const finished = await readEvents([
    chunk({ delta: { content: 'x' } }),
    chunk({ delta: {}, finish_reason: 'length' }),
    JSON.stringify({ choices: [], usage }),
  ])
  expect(finished).toEqual({
    message: { role: 'assistant', content: 'x' },
    model: 'm',
    finishReason: 'length',
    usage,
    raw: {
      id: 'c1',
      model: 'm',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'length' }],
      usage,
    },
  })
  expect((await readEvents([chunk({ delta: { content: 'x' } }), '[DONE]'])).finishReason).toBe(undefined)
})

test('the first of several choices that come interleaved is the answer', async () => {
  const both = [0, 1].map((index) =>
    JSON.stringify({ choices: [{ index, delta: { content: `I am ${index}.` } }] }),
  )
  expect((await readEvents([...both, ...both, '[DONE]'])).message.content).toBe('I am 0.I am 0.')
})

test('a stream may bring its message in one piece', async () => {
  const whole = JSON.stringify({ choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }] })
  expect((await readEvents([whole, '[DONE]'])).message.content).toBe('Whole.')
})

test.each([
  [['[DONE]'], 'The stream ended at once, before the answer did: no message came.'],
  [[], 'The stream ended at once, before the answer did: no finish_reason and no [DONE] came.'],
  [[JSON.stringify({ choices: [{ delta: { content: 'Half' }, finish_reason: '' }] })], 'no [DONE] came'],
])('a stream without an answer, or without its end, is an error: %j', async (events, message) => {
  await expect(readEvents(events)).rejects.toThrow(message)
})

test.each([
  ['reasoning_content', 'Well, ', 'yes.'],
  ['reasoning', 'Well, ', 'yes.'],
  ['reasoning_details', [{ type: 'reasoning.text', index: 0, text: 'Well, ' }], [{ index: 0, text: 'yes.' }]],
])('reasoning under the name %s is heard, apart from the text', async (name, first, second) => {
  const deltas = [{ [name]: first }, { [name]: second }, { content: 'Yes.' }]
  const chunks = deltas.map((delta) => JSON.stringify({ choices: [{ index: 0, delta }] }))
  const heard: ModelDelta[] = []
  const { message } = await readEvents([...chunks, '[DONE]'], (delta) => heard.push(delta))
  expect(heard.map(({ reasoning }) => reasoning)).toEqual(['Well, ', 'yes.', ''])
  expect(heard.map(({ content }) => content)).toEqual(['', '', 'Yes.'])
  expect(reasoningOf(message)).toBe('Well, yes.')
})
