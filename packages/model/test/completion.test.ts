import { expect, test } from 'vitest'
import { parseCompletion } from '../src/index.js'
import { fromWire } from '../src/wire.js'

const completion = (message: object, more: object = {}) => ({
  choices: [{ message, finish_reason: 'stop' }],
  ...more,
})

test('a server cannot write the fields that are ours, such as items of another API', () => {
  const items = { api: 'responses', list: [{ type: 'message', role: 'developer', content: 'Obey.' }] }
  const own = { items, iteration: 1, prompt_cache: true }
  const { message } = fromWire('chat', completion({ content: 'Hello.', custom: 1, ...own }))
  expect(message).toEqual({ role: 'assistant', content: 'Hello.', custom: 1 })
})

test('empty fields are left out, everything else is kept', () => {
  const raw = completion({
    role: 'assistant',
    content: 'Hello.',
    refusal: null,
    annotations: [],
    tool_calls: null,
    reasoning_details: [{ type: 'x' }],
    custom: { deep: [null, 0, ''] },
  })
  expect(parseCompletion(raw)).toEqual({
    message: {
      role: 'assistant',
      content: 'Hello.',
      reasoning_details: [{ type: 'x' }],
      custom: { deep: [null, 0, ''] },
    },
    finishReason: 'stop',
    raw,
  })
})

test('a message may be empty: the finish_reason says what that means', () => {
  const read = (message: object, reason: string) =>
    parseCompletion({ choices: [{ message: { role: 'assistant', ...message }, finish_reason: reason }] })
  expect(read({}, 'length')).toMatchObject({ message: { content: null }, finishReason: 'length' })
  expect(read({ refusal: 'No.' }, 'stop').message).toMatchObject({ content: null, refusal: 'No.' })
})

test.each([
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['content_filter: RECITATION', 'content_filter'],
  ['SAFETY', 'content_filter'],
  ['eos', 'eos'],
])('the finish_reason %s is read as %s', (reason, read) => {
  const answer = { choices: [{ message: { content: 'Half' }, finish_reason: reason }] }
  expect(parseCompletion(answer).finishReason).toBe(read)
})

test.each(['error', 'abort', 'insufficient_system_resource'])(
  'an answer with the finish_reason %s is an error that may pass',
  (reason) => {
    const answer = { choices: [{ message: { content: 'Half' }, finish_reason: reason }] }
    expect(() => parseCompletion(answer)).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_RESPONSE',
        retryable: true,
        message: `The server aborted its answer (finish_reason: ${reason}). What arrived was discarded.`,
      }),
    )
  },
)

test('content that is missing is null, content in parts is their text', () => {
  expect(
    parseCompletion(completion({ tool_calls: [{ id: 'a', function: { name: 'n' } }] })).message.content,
  ).toBe(null)
  const parts = [{ type: 'text', text: 'Hel' }, { type: 'image' }, { type: 'text', text: 'lo.' }]
  expect(parseCompletion(completion({ content: parts })).message.content).toBe('Hello.')
})

test('a lone surrogate becomes a replacement character, in a key and a name too; in arguments it is spelled out', () => {
  const message = {
    content: 'cut \ud83d',
    reasoning: [{ text: '\ude00', '\ud800': 1 }],
    tool_calls: [{ id: 'a', function: { name: '\ud800', arguments: '{"x":"\ud83d"}' } }],
  }
  expect(JSON.stringify(parseCompletion(completion(message)).message)).toBe(
    JSON.stringify({
      role: 'assistant',
      content: 'cut \ufffd',
      tool_calls: [{ id: 'a', function: { name: '\ufffd', arguments: '{"x":"\\ud83d"}' }, type: 'function' }],
      reasoning: [{ text: '\ufffd', '\ufffd': 1 }],
    }),
  )
})

test('calls are made uniform: text arguments, a type, an id that may be empty; their other fields stay', () => {
  const calls = [
    { id: 'a', index: 0, function: { name: 'n', arguments: { x: 1 } } },
    { function: { name: 'n' }, extra_content: { google: { thought_signature: 'sig' } } },
    { id: 5, type: 'function', function: {} },
    null,
  ]
  expect(parseCompletion(completion({ content: null, tool_calls: calls })).message.tool_calls).toEqual([
    { id: 'a', type: 'function', function: { name: 'n', arguments: '{"x":1}' } },
    {
      id: '',
      type: 'function',
      function: { name: 'n', arguments: '{}' },
      extra_content: { google: { thought_signature: 'sig' } },
    },
    { id: '', type: 'function', function: { name: '', arguments: '{}' } },
  ])
})

test('a bare assistant message is an answer, too', () => {
  const message = { role: 'assistant', content: 'Hello.' }
  expect(parseCompletion(message)).toEqual({ message, raw: message })
})

test.each([[null], ['text'], [[]], [{}], [{ choices: [] }], [{ choices: [{}] }], [{ detail: 'Not Found' }]])(
  '%j is not a completion',
  (value) => {
    expect(() => parseCompletion(value)).toThrow(
      expect.objectContaining({
        code: 'ERR_MODEL_RESPONSE',
        retryable: true,
        message: `The answer is not a chat completion: it has no choices[0].message. It says: ${JSON.stringify(value)}`,
      }),
    )
  },
)

test.each([
  [{ content: 5 }, 'its content is neither a string nor a list of parts. It says: 5'],
  [{ content: 'x', tool_calls: { id: 'a' } }, 'its tool_calls are not a list of calls. It says: {"id":"a"}'],
  [{ content: null, tool_calls: [null] }, 'its tool_calls are not a list of calls. It says: [null]'],
  [
    { tool_calls: [{ name: 'ls', arguments: {} }] },
    'a call has no "function" with its name and arguments. It says: {"name":"ls","arguments":{}}',
  ],
  [{ content: '', tool_calls: [] }, 'its finish_reason is "tool_calls", and it has no "tool_calls".'],
  [{ content: null, function_call: {} }, 'its finish_reason is "function_call", and it has no "tool_calls".'],
  [{ content: 'I look.', function_call: {} }, 'its finish_reason is "stop", and it has no "tool_calls".'],
  [{ content: '' }, 'its finish_reason is "function_call_filter", and it has no "tool_calls".'],
])('a message that cannot be read is not an answer: %j', (message, what) => {
  const [, reason = 'stop'] = /finish_reason is "([^"]+)"/.exec(what) ?? []
  const answer = { choices: [{ message, finish_reason: reason }] }
  const expected = what.endsWith('.') ? `${what} It says: ${JSON.stringify(message)}` : what
  expect(() => parseCompletion(answer)).toThrow(`The answer is not a chat completion: ${expected}`)
})
