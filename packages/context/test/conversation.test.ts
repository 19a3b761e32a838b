import { isDeepStrictEqual } from 'node:util'
import { findHistoryProblem } from '@delta/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { conversationFromEvents } from '../src/index.js'
import { followEvents } from '../src/internal.js'
import { history, journalText, placeWith } from './place.js'

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

test('both sides carry the run’s own id, and ids that an older journal repeats are told apart', () => {
  const run = history()
  for (const action_id of ['1-0', '2-0', '2-0']) {
    run.thought('', [{ id: 'call_0', action_id }])
    run.result(action_id, 'x')
  }
  const messages = conversationFromEvents(run.events)
  expect(messages.map((message) => message.tool_calls ?? message.tool_call_id)).toMatchObject([
    [{ id: '1-0' }],
    '1-0',
    [{ id: '2-0' }],
    '2-0',
    [{ id: '3-0' }],
    '3-0',
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
    iteration: 1,
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
      is_error: true,
      tool_call_id: 'started',
      content:
        '[No result: the run was interrupted during this call. It may have taken effect completely, in part, or not at all. ' +
        'Check what is there before you repeat it.]',
    },
    {
      role: 'tool',
      is_error: true,
      tool_call_id: 'asked',
      content: '[No result yet: this call waits for a person.]',
    },
    {
      role: 'tool',
      is_error: true,
      tool_call_id: 'never',
      content: '[No result: the run was interrupted before this call. It had no effect and can be repeated.]',
    },
  ])
})

test('what is said between a thought and its last result comes after it; a stray result and a new event are left out', () => {
  const run = history()
  run.result('stray', 'x')
  run.add({ type: 'TELEPATHY', content: 'x' })
  run.thought('', [call('a'), call('b')])
  run.result('a', '1')
  run.result('stray', 'x')
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

test.each([
  ['{ "x" : 1.0 }', '{ "x" : 1.0 }'],
  ['', '{}'],
  ...['{"a":', '[1]', 'null', '"text"'].map((text) => [text, JSON.stringify({ malformed_arguments: text })]),
])('the arguments %j are sent back as %j, so that no server refuses the history', (text, sent) => {
  const run = history()
  run.thought('', [call('a', { arguments: text })])
  const [assistant] = conversationFromEvents(run.events)
  expect(assistant).toMatchObject({ tool_calls: [{ function: { arguments: sent } }] })
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

function longRun(iterations: number) {
  const run = history()
  run.user('The task.')
  for (let index = 1; index <= iterations; index++) {
    if (index === 3) run.user('A second wish.')
    run.iteration(`thought ${index}`, `result ${index}`)
    if (index === 2) run.system('noise of iteration 2')
  }
  return run
}

test('max_iterations drops whole old iterations, never what users said; dropped marks their place', async () => {
  const run = longRun(6)
  const { build } = await placeWith()
  const contents = async (journal: object) => {
    const sources = [{ type: 'journal', ...journal }]
    return (await build({ sources }, { journalPath: run.events })).messages.map(({ content }) => content)
  }
  const all = await contents({})
  expect(all).toHaveLength(2 + 1 + 6 * 2)
  for (const whole of [{ max_iterations: 6, dropped: true }, { max_iterations: 9 }, { dropped: true }])
    expect(await contents(whole)).toEqual(all)
  const kept = ['thought 5', 'result 5', 'thought 6', 'result 6']
  const users = ['The task.', 'A second wish.']
  expect(await contents({ max_iterations: 2, dropped: false })).toEqual([...users, ...kept])
  expect(await contents({ max_iterations: 2, dropped: true })).toEqual([
    ...users,
    '[4 earlier iterations left out]',
    ...kept,
  ])
  expect((await contents({ max_iterations: 4, dropped: '<${count} gone>' })).slice(0, 3)).toEqual([
    'The task.',
    '<2 gone>', // the second wish came after them
    'A second wish.',
  ])
  run.thought('')
  run.add({ type: 'ENGINE_START', run_id: 'r1', resumed: true, retry: true })
  expect(await contents({ max_iterations: 2 })).toEqual([...users, ...kept]) // the unused answer counts for none
})

test('with drop_to, the beginning of the requests changes at most once in as many iterations as are dropped at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 2, max: 24 }), fc.integer({ min: 1, max: 23 }), async (most, less) => {
      const dropTo = Math.min(less, most - 1)
      const step = most - dropTo
      const run = history()
      const { build } = await placeWith()
      let before: unknown[] = []
      let changed = Number.NEGATIVE_INFINITY
      for (let count = 0; count <= 3 * most; count++) {
        run.iteration(`thought ${count}`, 'seen')
        const journal = { type: 'journal', max_iterations: most, drop_to: dropTo }
        const { messages } = await build({ sources: [journal] }, { journalPath: run.events })
        const shown = messages.filter(({ role }) => role === 'assistant').length
        expect(shown).toBeLessThanOrEqual(most)
        expect(shown).toBeGreaterThan(Math.min(count, dropTo))
        const grew = before.every((message, index) => isDeepStrictEqual(message, messages[index]))
        if (!grew) {
          expect(count - changed).toBeGreaterThanOrEqual(step)
          changed = count
        }
        before = messages
      }
    }),
    { numRuns: 20 },
  )
})

test('a run that has not begun has no conversation', async () => {
  const { build, options } = await placeWith()
  const journals = ['/no/such/journal.jsonl', followEvents(async () => []), options.journalPath]
  for (const journalPath of journals) {
    const { messages } = await build({ sources: [{ type: 'journal', max_iterations: 3 }] }, { journalPath })
    expect(messages).toEqual([])
  }
})

test('a follower gives the same objects for the same messages, so their JSON is made once', async () => {
  const { build } = await placeWith()
  const run = history()
  const journalPath = followEvents(async () => run.events)
  const messages = async () => (await build({ sources: [{ type: 'journal' }] }, { journalPath })).messages
  run.user('Go.')
  run.thought('', [call('a'), call('b')])
  run.result('a', 'first')
  run.add({ type: 'HOOK_EXECUTION_AUDIT', action_id: 'b', observation_override: 'instead' })
  run.result('b', 'second')
  const before = await messages()
  run.iteration('On.', 'x')
  const after = await messages()
  expect(after).toHaveLength(before.length + 2)
  for (const [index, message] of before.entries()) expect(after[index]).toBe(message)
})

test('whatever is said when, a follower gives what the file and the events give, at every length', async () => {
  const { build, write } = await placeWith()
  const said = fc.constantFrom(
    'user',
    'system',
    'warning before',
    'warning',
    'late',
    'iteration',
    'iteration',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 15 }),
      fc.integer({ min: 1, max: 4 }),
      async (all, max_iterations) => {
        const run = history()
        const follower = followEvents(async () => run.events)
        const sources = [{ type: 'journal', max_iterations, dropped: true }]
        let iteration = 0
        for (const [index, what] of all.entries()) {
          const warning = { type: 'SYSTEM_MESSAGE', level: 'WARN', content: `${what} ${index}` }
          if (what === 'user') run.user(`wish ${index}`)
          else if (what === 'system') run.system(`note ${index}`)
          else if (what === 'late') run.result(`c${iteration}`, 'late')
          else if (what === 'warning') run.add({ ...warning, iteration: Math.max(1, iteration) })
          else {
            iteration += 1
            if (what === 'warning before') run.add({ ...warning, iteration })
            run.iteration(`thought ${index}`, `result ${index}`)
          }
          const fresh = await build({ sources }, { journalPath: [...run.events] })
          expect(await build({ sources }, { journalPath: follower })).toEqual(fresh)
        }
        await write('work/.delta/r1/journal.jsonl', journalText(run.events))
        expect(await build({ sources })).toEqual(await build({ sources }, { journalPath: follower }))
      },
    ),
  )
})

test('a follower that is given another list reads it from its beginning', async () => {
  let { events } = longRun(2)
  const follower = followEvents(async () => events)
  await follower.groups()
  events = longRun(1).events
  const contents = (await follower.groups()).flatMap(({ messages }) => messages)
  expect(contents.map(({ message }) => message.content)).toEqual(['The task.', 'thought 1', 'result 1'])
})

const IMAGE = {
  type: 'image',
  blob: 'a'.repeat(64),
  media_type: 'image/png',
  bytes: 9,
  width: 600,
  height: 500,
}

test('a result is its parts, if it has any; a hook’s text comes first, and what did not succeed says so', () => {
  const parts = [{ type: 'text', text: 'See:' }, IMAGE]
  const run = history()
  run.user('Look.')
  run.thought('', [call('a'), call('b'), call('c'), call('d')])
  for (const [action_id, status] of Object.entries({ a: 'SUCCESS', b: 'FAILED', c: 'BLOCKED', d: 'SUCCESS' }))
    run.add({
      type: 'ACTION_RESULT',
      iteration: 1,
      action_id,
      tool_name: 'shot',
      status,
      observation_content: 'text',
      ...(action_id !== 'c' && { parts }),
    })
  run.add({
    type: 'HOOK_EXECUTION_AUDIT',
    hook: 'post_tool_exec',
    action_id: 'd',
    status: 'EXECUTED',
    observation_override: 'No.',
  })
  expect(conversationFromEvents(run.events).slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: parts },
    { role: 'tool', tool_call_id: 'b', content: parts, is_error: true },
    { role: 'tool', tool_call_id: 'c', content: 'text', is_error: true },
    { role: 'tool', tool_call_id: 'd', content: 'No.' },
  ])
})

test('a user may say an image', () => {
  const run = history()
  const content = [{ type: 'text', text: 'What is this?' }, IMAGE]
  run.add({ type: 'USER_MESSAGE', content })
  expect(conversationFromEvents(run.events)).toEqual([{ role: 'user', content }])
})

test('the items of an answer go back untouched with their iteration', () => {
  const list = [
    { type: 'reasoning', encrypted_content: 'xyz' },
    { type: 'function_call', call_id: 'server', name: 'my tool', arguments: '{' },
  ]
  const message = { role: 'assistant', content: null, items: { api: 'responses', list } }
  const run = history()
  run.thought('first')
  run.thought('', [call('a', { name: 'my tool', arguments: '{' })], { message }) // the call itself is sent in a form that servers accept
  const [, answer] = conversationFromEvents(run.events)
  expect(answer).toMatchObject({ items: { api: 'responses', list }, iteration: 2 })
})
