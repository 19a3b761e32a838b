import { describe, expect, test } from 'vitest'
import { type ChatMessage, type ChatModel, scriptModel } from '../src/index.js'
import { scriptSchema } from '../src/internal.js'

const user: ChatMessage = { role: 'user', content: 'Go.' }
const observed = (id: string, content: string): ChatMessage => ({ role: 'tool', tool_call_id: id, content })

async function say(model: ChatModel, ...messages: ChatMessage[]) {
  return (await model.complete({ messages })).message
}

const model = scriptModel([
  { content: 'Reading.', tool_calls: [{ name: 'read', arguments: { file: 'a.txt' } }] },
  {
    tool_calls: [
      { name: 'count', arguments: '{"broken' },
      { name: 'echo', arguments: { lines: ['{{last_observation}}'] } },
    ],
  },
  { content: 'It says {{last_observation}}, and again: {{last_observation}}.' },
  { content: 'More.' },
])

describe('the turn follows from the conversation', () => {
  test('from its beginning to its end, and beyond it when the user goes on', async () => {
    const first = await say(model, user)
    expect(first).toEqual({
      role: 'assistant',
      content: 'Reading.',
      tool_calls: [
        { id: 'turn-1-1', type: 'function', function: { name: 'read', arguments: '{"file":"a.txt"}' } },
      ],
    })

    const second = await say(model, user, first, observed('turn-1-1', 'say "hi" $& \n'))
    expect(second).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'turn-2-1', type: 'function', function: { name: 'count', arguments: '{"broken' } },
        {
          id: 'turn-2-2',
          type: 'function',
          function: { name: 'echo', arguments: '{"lines":["say \\"hi\\" $& "]}' },
        },
      ],
    })

    const history = [
      user,
      first,
      observed('turn-1-1', 'x'),
      second,
      observed('turn-2-1', 'y'),
      observed('turn-2-2', 'z'),
    ]
    const third = await say(model, ...history)
    expect(third).toEqual({ role: 'assistant', content: 'It says z, and again: z.' })
    expect((await say(model, ...history, third, user)).content).toBe('More.')
  })

  test('also when old messages were left out, because call ids carry the turn', async () => {
    const second = await say(model, user, { role: 'assistant', content: 'Reading.' })
    const cut = [user, second, observed('turn-2-1', 'y'), observed('turn-2-2', 'z')]
    expect((await say(model, ...cut)).content).toBe('It says z, and again: z.')
    expect((await say(model, ...cut, { role: 'assistant', content: 'Three.' }, user)).content).toBe('More.')
  })
})

test('an observation is quoted as it is but for its final newlines, and is empty before the first', async () => {
  const first = await say(scriptModel([{ tool_calls: [{ name: 'read' }] }]), user)
  const sentence = scriptModel([{ content: '' }, { content: '<{{last_observation}}>' }])
  expect((await say(sentence, user, first, observed('turn-1-1', '\n a\n b \n\n'))).content).toBe(
    '<\n a\n b >',
  )

  const quoting = scriptModel([{ content: '<{{last_observation}}>' }])
  expect((await say(quoting, user)).content).toBe('<>')
})

test('a backslash before the placeholder keeps it as text', async () => {
  const first = await say(scriptModel([{ tool_calls: [{ name: 'read' }] }]), user)
  const arguments_ = { text: '\\{{last_observation}}' }
  const escaped = scriptModel([
    { content: '' },
    {
      content: '\\{{last_observation}} is {{last_observation}}.',
      tool_calls: [{ name: 'write', arguments: arguments_ }],
    },
  ])
  expect(await say(escaped, user, first, observed('turn-1-1', '{{last_observation}}'))).toMatchObject({
    content: '{{last_observation}} is {{last_observation}}.',
    tool_calls: [{ function: { arguments: '{"text":"{{last_observation}}"}' } }],
  })
})

test('a script that has run out says how long it is, where it is and what to do', async () => {
  const turns = [{ tool_calls: [{ name: 'read' }] }]
  const one = scriptModel(turns)
  const messages = [user, await say(one, user), observed('turn-1-1', 'x')]
  const message =
    'The script has 1 turn, and the conversation has come to turn 2. Add a turn: a script needs one for each answer of the model.'
  await expect(one.complete({ messages })).rejects.toMatchObject({
    code: 'ERR_MODEL_SCRIPT_END',
    retryable: false,
    message,
  })
  await expect(scriptModel(turns, { path: '/agent/script.yaml' }).complete({ messages })).rejects.toThrow(
    `/agent/script.yaml: ${message}`,
  )
})

test('what listens hears the text, and an aborted request is not answered', async () => {
  const heard: unknown[] = []
  const onDelta = (delta: unknown) => heard.push(delta)
  const { finishReason, usage } = await model.complete({ messages: [user] }, { onDelta })
  expect([heard, finishReason, usage]).toEqual([[{ content: 'Reading.' }], 'tool_calls', undefined])

  const aborted = model.complete({ messages: [user] }, { signal: AbortSignal.abort() })
  await expect(aborted).rejects.toMatchObject({ code: 'ERR_MODEL_ABORTED' })
})

test('a script is a list of turns with content, tool calls or both', () => {
  const calls = [
    { name: 'read' },
    { name: 'read', arguments: { file: 'a.txt' } },
    { name: 'read', arguments: '{"' },
  ]
  const turns = [{ content: '' }, { tool_calls: calls }, { content: 'Both.', tool_calls: calls }]
  expect(scriptSchema.parse(turns)).toEqual(turns)
})

test.each([
  null,
  'Hello.',
  [],
  [{}],
  [{ contents: 'Hello.' }],
  [{ content: 'Hello.', calls: [] }],
  [{ tool_calls: [{ arguments: {} }] }],
  [{ tool_calls: [{ name: 'read', arguments: ['a.txt'] }] }],
])('%j is not a script', (input) => {
  expect(scriptSchema.safeParse(input).success).toBe(false)
})
