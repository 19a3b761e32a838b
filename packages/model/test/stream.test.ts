import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readEvents } from '../src/server/server-sent-events.js'
import { readStream } from '../src/server/stream.js'

const asked = { url: 'http://localhost/v1/chat/completions', model: 'm', hasKey: false }

async function* each<T>(values: Iterable<T>): AsyncGenerator<T> {
  yield* values
}

async function read(...deltas: object[]) {
  const chunks = deltas.map((delta) => JSON.stringify({ id: 'c1', choices: [{ index: 0, delta }] }))
  return (await readStream(each([...chunks, '[DONE]']), { asked })).message
}

describe('events', () => {
  const text = 'event: x\ndata: {"a":\ndata:1}\n\n: comment\n\nid: 5\r\ndata: ä€\r\n\r\ndata: last'
  const events = ['{"a":\n1}', 'ä€', 'last']

  test.each([1, 2, 3, 7, 1000])('are read from pieces of %i bytes', async (size) => {
    const bytes = new TextEncoder().encode(text)
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.slice(index * size, (index + 1) * size),
    )
    const seen: string[] = []
    for await (const event of readEvents(each(pieces), asked)) seen.push(event)
    expect(seen).toEqual(events)
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
        const { message } = await readStream(readEvents(each(pieces), asked), {
          onText: (text) => heard.push(text),
          asked,
        })

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
    const { message } = await readStream(each([...chunks, '[DONE]']), {
      asked,
      onText: (text) => heard.push(text),
    })
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
  const finished = await readStream(
    each([
      chunk({ delta: { content: 'x' } }),
      chunk({ delta: {}, finish_reason: 'length' }),
      JSON.stringify({ choices: [], usage }),
    ]),
    { asked },
  )
  expect(finished).toEqual({
    message: { role: 'assistant', content: 'x' },
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
  expect(
    (await readStream(each([chunk({ delta: { content: 'x' } }), '[DONE]']), { asked })).finishReason,
  ).toBe(undefined)
})

test('an empty finish_reason with every piece does not end a stream', async () => {
  const piece = JSON.stringify({ choices: [{ delta: { content: 'Half' }, finish_reason: '' }] })
  await expect(readStream(each([piece]), { asked })).rejects.toThrow('no finish_reason and no [DONE] came')
})

test('a stream may bring its message in one piece, and empty events before it', async () => {
  const whole = JSON.stringify({ choices: [{ message: { content: 'Whole.' }, finish_reason: 'stop' }] })
  expect((await readStream(each(['', whole, '[DONE] ']), { asked })).message.content).toBe('Whole.')
})

test('a stream that says nothing at all is an error, too', async () => {
  await expect(readStream(each(['[DONE]']), { asked })).rejects.toThrow(
    'The stream ended at once, before the answer did: no message came. What arrived was discarded.',
  )
  await expect(readStream(each([]), { asked })).rejects.toThrow(
    'The stream ended at once, before the answer did',
  )
})
