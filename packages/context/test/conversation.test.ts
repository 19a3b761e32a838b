import { findHistoryProblem } from '@delta/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversationFromEvents } from '../src/index.js'
import { history } from './place.js'

const call = (id: string, more: object = {}) => ({ id, action_id: id, ...more })

test('a run becomes user, assistant and tool messages, as OpenAI spells them', () => {
  const run = history()
  run.add({ type: 'ENGINE_START', run_id: 'r1', task: 'Count the files.' })
  run.user('Count the files.')
  run.thought('', [call('c1', { name: 'list', arguments: '{"directory":"."}' })])
  run.request('c1')
  run.result('c1', 'a\nb\n')
  run.thought('Two.')

  expect(conversationFromEvents(run.events)).toEqual([
    { role: 'user', content: 'Count the files.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'list', arguments: '{"directory":"."}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'a\nb\n' },
    { role: 'assistant', content: 'Two.' },
  ])
})

test('an answer after which the run was retried is left out: the request is made again', () => {
  const run = history()
  run.user('Count the files.')
  run.iteration('I look.', 'a')
  const asked = conversationFromEvents(run.events)
  run.thought('')
  run.add({ type: 'ENGINE_START', run_id: 'r1', resumed: true, retry: true })
  expect(conversationFromEvents(run.events)).toEqual(asked)
  run.thought('One.')
  expect(conversationFromEvents(run.events).at(-1)).toEqual({ role: 'assistant', content: 'One.' })
})

test('results stand in the order of the calls, whatever order they came in', () => {
  const run = history()
  run.thought('', [call('a'), call('b'), call('c')])
  for (const id of ['c', 'a', 'b']) run.result(id, `result of ${id}`)
  expect(conversationFromEvents(run.events).slice(1)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: 'result of a' },
    { role: 'tool', tool_call_id: 'b', content: 'result of b' },
    { role: 'tool', tool_call_id: 'c', content: 'result of c' },
  ])
})

test('both sides carry the run’s own id, not the one the server may repeat every turn', () => {
  const run = history()
  run.thought('', [{ id: 'call_0', action_id: '1-0' }])
  run.result('1-0', 'first')
  run.thought('', [{ id: 'call_0', action_id: '2-0' }])
  run.result('2-0', 'second')
  const messages = conversationFromEvents(run.events)
  expect(messages.map((message) => message.tool_calls ?? message.tool_call_id)).toMatchObject([
    [{ id: '1-0' }],
    '1-0',
    [{ id: '2-0' }],
    '2-0',
  ])
})

test('ids that an older journal holds twice are told apart', () => {
  const run = history()
  for (const observation of ['one', 'two']) {
    run.thought('', [call('call_0')])
    run.result('call_0', observation)
  }
  expect(conversationFromEvents(run.events).filter(({ role }) => role === 'tool')).toEqual([
    { role: 'tool', tool_call_id: 'call_0', content: 'one' },
    { role: 'tool', tool_call_id: '2-0', content: 'two' },
  ])
})

test('reasoning comes back exactly as it was received', () => {
  const message = {
    role: 'assistant',
    content: null,
    reasoning_content: 'Hm.',
    reasoning_details: [{ type: 'encrypted', data: 'xyz' }],
    tool_calls: [
      {
        id: 'server',
        type: 'function',
        function: { name: 'tool', arguments: '{}' },
        extra_content: { google: { thought_signature: 's' } },
      },
    ],
  }
  const run = history()
  run.thought('', [{ id: 'server', action_id: 'ours' }], { message })
  run.result('ours', 'x')
  expect(conversationFromEvents(run.events)[0]).toEqual({
    ...message,
    tool_calls: [{ ...message.tool_calls[0], id: 'ours' }],
  })
})

test('every call is answered: an interrupted one so that the model does not repeat it blindly', () => {
  const run = history()
  run.thought('', [call('started'), call('asked'), call('never')])
  run.request('started')
  run.add({ type: 'HUMAN_INPUT_REQUEST', action_id: 'asked', prompt: 'Really?' })
  expect(conversationFromEvents(run.events).slice(1)).toEqual([
    {
      role: 'tool',
      tool_call_id: 'started',
      content:
        '[No result: the run was interrupted during this call. It may have taken effect completely, in part, or not at all. ' +
        'Check what is there before you repeat it.]',
    },
    { role: 'tool', tool_call_id: 'asked', content: '[No result yet: this call waits for a person.]' },
    {
      role: 'tool',
      tool_call_id: 'never',
      content: '[No result: the run was interrupted before this call. It had no effect and can be repeated.]',
    },
  ])
})

test('what users and the engine say between a thought and its last result comes after that result', () => {
  const run = history()
  run.thought('', [call('a'), call('b')])
  run.result('a', '1')
  run.user('And hurry.')
  run.system('A hook failed.')
  run.result('b', '2')
  run.thought('Done.')
  expect(conversationFromEvents(run.events).map(({ role, content }) => `${role}: ${content}`)).toEqual([
    'assistant: null',
    'tool: 1',
    'tool: 2',
    'user: And hurry.',
    'system: A hook failed.',
    'assistant: Done.',
  ])
})

test('system messages stand where they were said', () => {
  const run = history()
  run.user('Go.')
  run.system('Careful.')
  run.iteration('', 'x')
  run.system('Slow.')
  expect(conversationFromEvents(run.events).map(({ role }) => role)).toEqual([
    'user',
    'system',
    'assistant',
    'tool',
    'system',
  ])
})

test('a hook’s override is what the model reads, also when it comes before the result', () => {
  const run = history()
  run.thought('', [call('a'), call('b')])
  const override = (action_id: string, observation_override: string) =>
    run.add({
      type: 'HOOK_EXECUTION_AUDIT',
      hook_name: 'post_tool_execution',
      status: 'SUCCESS',
      action_id,
      observation_override,
    })
  override('b', 'B')
  run.result('a', 'secret')
  run.result('b', 'secret')
  override('a', 'A')
  expect(
    conversationFromEvents(run.events)
      .slice(1)
      .map(({ content }) => content),
  ).toEqual(['A', 'B'])
})

test('results nobody asked for are left out: a strict API would refuse them', () => {
  const run = history()
  run.result('stray', 'x')
  run.user('Go.')
  run.thought('', [call('a')])
  run.result('other', 'x')
  run.result('a', 'y')
  expect(conversationFromEvents(run.events).map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})

test.each(['{"a":', '[1]', 'null', '"text"', '5'])(
  'arguments %s are sent as text inside of an object, so that no server chokes on the history',
  (text) => {
    const run = history()
    run.thought('', [call('a', { arguments: text })])
    run.result('a', 'not an object')
    const [assistant] = conversationFromEvents(run.events)
    expect(assistant).toMatchObject({
      tool_calls: [{ function: { arguments: JSON.stringify({ malformed_arguments: text }) } }],
    })
  },
)

test('well-formed arguments are sent back byte for byte, empty ones as an empty object', () => {
  const run = history()
  run.thought('', [call('a', { arguments: '{ "x" : 1.0 }' }), call('b', { arguments: '' })])
  const [assistant] = conversationFromEvents(run.events)
  expect(assistant).toMatchObject({
    tool_calls: [{ function: { arguments: '{ "x" : 1.0 }' } }, { function: { arguments: '{}' } }],
  })
})

test('events of a newer engine are passed over', () => {
  const run = history()
  run.user('Go.')
  run.add({ type: 'TELEPATHY', content: 'x' })
  run.thought('Yes.')
  expect(conversationFromEvents(run.events)).toHaveLength(2)
})

const ids = fc.constantFrom('a', 'b', 'c')
const anyEvent = fc.oneof(
  fc.record({ type: fc.constant('USER_MESSAGE'), content: fc.string() }),
  fc.record({ type: fc.constant('SYSTEM_MESSAGE'), level: fc.constant('WARN'), content: fc.string() }),
  fc.record({
    type: fc.constant('THOUGHT'),
    iteration: fc.constant(1),
    content: fc.string(),
    tool_calls: fc
      .uniqueArray(ids)
      .map((list) => list.map((id) => ({ ...call(id), name: 'tool', arguments: '{' }))),
  }),
  fc.record({
    type: fc.constant('ACTION_REQUEST'),
    iteration: fc.constant(1),
    action_id: ids,
    tool_name: ids,
  }),
  fc.record({
    type: fc.constant('ACTION_RESULT'),
    iteration: fc.constant(1),
    action_id: ids,
    observation_content: fc.string(),
  }),
  fc.record({ type: fc.constant('HOOK_EXECUTION_AUDIT'), action_id: ids, observation_override: fc.string() }),
)

test('whatever the journal holds, and wherever it ends, a strict API accepts the conversation', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 30 }), (events) => {
      const run = history()
      run.user('Go.')
      for (const event of events) run.add(event)
      const request = { model: 'm', messages: conversationFromEvents(run.events) }
      expect(findHistoryProblem(request)).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})

test('a name that no tool can have is sent in a form that servers accept', () => {
  const run = history()
  const names = ['../../escape', 'ünïcode', 'x'.repeat(300), '']
  run.thought(
    '',
    names.map((name, index) => call(`c${index}`, { name })),
  )
  const messages = conversationFromEvents(run.events)
  expect(messages[0]).toMatchObject({
    tool_calls: ['______escape', '_n_code', 'x'.repeat(64), 'unnamed'].map((name) => ({
      function: { name },
    })),
  })
  expect(findHistoryProblem({ model: 'any', messages })).toBeUndefined()
})
