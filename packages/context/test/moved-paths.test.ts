import { expect, test } from 'vitest'
import { conversationFromEvents } from '../src/index.js'
import { followEvents } from '../src/internal.js'
import { history } from './place.js'

const OLD = '/w/site'
const RUN = '/w/site/.delta/one'
const paths = [
  [OLD, '/w/site-fork-7'],
  [RUN, '/w/site-fork-7/.delta/two'],
]
const start = (pairs: unknown, more: object = {}) => ({
  type: 'ENGINE_START',
  run_id: 'two',
  resumed: true,
  paths: pairs,
  ...more,
})

test('in what came before, the model reads the new path of its workspace, only where the old one ends', () => {
  const run = history()
  run.user(
    `Look at ${OLD}/a.py, ${OLD}-agent, ${OLD}.bak, ${OLD}2, ${OLD}_x, ${OLD}é and ${RUN}/io. It is in ${OLD}.`,
  )
  run.add({ type: 'SYSTEM_MESSAGE', level: 'INFO', content: `cwd: ${OLD}` })
  run.thought(`I read ${OLD}/a.py in ${OLD}. Not "${OLD}..", ${OLD}./x or ${OLD}...b.`, [
    {
      id: 'c1',
      action_id: 'c1',
      arguments: `{"file": "${OLD}\\/a.py", "n": 12345678901234567890, "${OLD}":1}`,
    },
    { id: 'c2', action_id: 'c2', arguments: `${OLD} no JSON` },
  ])
  run.result('c1', `${OLD}:\n"${OLD}"\n`)
  run.result('c2', `at ${OLD}`)
  run.add({
    type: 'HOOK_EXECUTION_AUDIT',
    hook_name: 'post_tool_execution',
    status: 'SUCCESS',
    action_id: 'c2',
    observation_override: `in ${OLD}/b`,
  })
  run.add(start(paths))
  run.user(`Now ${OLD} is a word of mine.`)

  const now = '/w/site-fork-7'
  const conversation = conversationFromEvents(run.events)
  expect(conversation.map(({ content }) => content)).toEqual([
    `Look at ${now}/a.py, ${OLD}-agent, ${OLD}.bak, ${OLD}2, ${OLD}_x, ${OLD}é and ${now}/.delta/two/io. It is in ${now}.`,
    `cwd: ${now}`,
    `I read ${now}/a.py in ${now}. Not "${now}..", ${OLD}./x or ${OLD}...b.`,
    `${now}:\n"${now}"\n`,
    `in ${now}/b`,
    `Now ${OLD} is a word of mine.`,
  ])
  const { tool_calls: calls = [] } = conversation[2] as { tool_calls?: { function: { arguments: string } }[] }
  expect(calls.map((call) => call.function.arguments)).toEqual([
    `{"file": "${now}/a.py", "n": 12345678901234567890, "${now}":1}`,
    JSON.stringify({ malformed_arguments: `${now} no JSON` }),
  ])
})

test('reasoning, signatures and encrypted content go back as they came; texts and calls in items get the new path', () => {
  const text = `in ${OLD}/a`
  const moved = 'in /w/site-fork-7/a'
  const kept = (list: unknown[]) => ({
    role: 'assistant',
    content: text,
    reasoning_content: text,
    reasoning_details: [{ text, signature: OLD }],
    items: { api: 'messages', list },
  })
  const list = (said: string) => [
    { type: 'thinking', thinking: text, signature: OLD },
    { type: 'redacted_thinking', data: OLD },
    { type: 'reasoning', encrypted_content: OLD, summary: [{ type: 'summary_text', text }] },
    { type: 'text', text: said },
    {
      type: 'message',
      content: [
        { type: 'output_text', text: said },
        { type: 'refusal', refusal: text },
      ],
    },
    { type: 'tool_use', id: OLD, name: 'cat', input: { files: [said, 7], [OLD]: null } },
    { type: 'function_call', call_id: OLD, arguments: JSON.stringify({ file: said }) },
    { type: 'unknown', text },
  ]
  const run = history()
  run.add({ type: 'THOUGHT', iteration: 1, content: text, tool_calls: [], message: kept(list(text)) })
  run.add(start(paths))
  const [message] = conversationFromEvents(run.events)
  expect(message).toEqual({ ...kept(list(moved)), content: moved, iteration: 1 })
})

test('in a fork of a fork the first path leads to the last workspace, and an image stays', () => {
  const image = { type: 'image', blob: 'a'.repeat(64), media_type: 'image/png', bytes: 3 }
  const run = history()
  run.add({ type: 'USER_MESSAGE', content: [{ type: 'text', text: '/a/x and /b/y' }, image] })
  run.add(start([['/a', '/b']], { inherited: true }))
  run.user('/a and /b')
  run.add(start([['/b', '/c']]))
  expect(conversationFromEvents(run.events).map(({ content }) => content)).toEqual([
    [{ type: 'text', text: '/c/x and /c/y' }, image],
    '/a and /c',
  ])
})

test('a run that is moved while it is followed is read anew', async () => {
  const run = history()
  run.user(`Look at ${OLD}`)
  const conversation = followEvents(async () => run.events)
  const said = async () => (await conversation.groups()).map(({ messages }) => messages[0]?.message.content)
  expect(await said()).toEqual([`Look at ${OLD}`])
  run.add(start(paths))
  run.user('More')
  expect(await said()).toEqual(['Look at /w/site-fork-7', 'More'])
  run.user(`And ${OLD}`)
  expect(await said()).toEqual(['Look at /w/site-fork-7', 'More', `And ${OLD}`])
})

test('a path may hold any character of a regular expression', () => {
  const odd = '/w/a+b (1) [x]{2}^$.|'
  const run = history()
  run.user(`${odd}/f and ${odd}`)
  run.add(start([[odd, '/n']]))
  expect(conversationFromEvents(run.events)[0]?.content).toBe('/n/f and /n')
})
