import { DEFAULT_RULES, defineTool } from '@delta/executor'
import { expect, test } from 'vitest'
import { createRunner, dispatch, toOpenAITools } from '../src/index.js'

// Called from JavaScript, where no type checker has looked at what is passed.

test.each([
  ['createRunner', createRunner],
  ['toOpenAITools', toOpenAITools],
])('tools that are none are refused by name: %s', (name, use) => {
  for (const tools of [undefined, 'tools.yaml', [{ name: 'say', exec: 'echo' }]]) {
    expect(() => use(tools as never)).toThrow(
      `${name}: the list of tools is missing or invalid.\nPass what defineTool of @delta/executor makes, in a list.`,
    )
  }
})

const tools = [defineTool({ name: 'say', exec: 'echo ${text}' })]

test.each<[string, object | null]>([
  ['the argument options', null],
  ['the option workDirectory', { workDirectory: 5 }],
  ['the option environment', { environment: null }],
  ['the option credentials', { credentials: 'MY_KEY' }],
  ['the option secrets', { secrets: [null] }],
  ['the option policy', { policy: { allow_network: false } }],
  ['the option confirm', { confirm: true }],
  ['the option signal', { signal: {} }],
  ['the option concurrency', { concurrency: '2' }],
  ['the option onResult', { onResult: 'log' }],
])('an option that cannot be used is named, and nothing is run: %s %j', async (what, options) => {
  await expect(dispatch(tools, { tool_calls: [] }, options as never)).rejects.toMatchObject({
    code: 'ERR_ADAPTER_OPTIONS',
    message: expect.stringContaining(`dispatch: ${what} is missing or invalid.\nPass `),
  })
})

test('what is no message is refused by name', async () => {
  for (const message of [undefined, 'text', []]) {
    await expect(dispatch(tools, message as never)).rejects.toMatchObject({ code: 'ERR_ADAPTER_MESSAGE' })
  }
})

test('a call without the name of a tool has an answer, and hides no other call', async () => {
  const calls = [
    { id: '1' },
    { id: '2', function: { name: '' } },
    { id: '3', function: { name: 'say', arguments: '{"text":"hi"}' } },
  ]
  const answers = await dispatch(tools, { tool_calls: calls })
  const nothing = 'ERROR: there is no tool "". Nothing was run.\nThe tools are: say.'
  expect(answers.map(({ content }) => content)).toEqual([nothing, nothing, 'hi\n'])
})

test('an answer of confirm that is neither true nor false is a mistake of the program, and nothing is run', async () => {
  const policy = { rules: DEFAULT_RULES, onConfirmation: 'ask_human' as const }
  const message = { tool_calls: [{ id: '1', function: { name: 'say', arguments: '{"text":"hi"}' } }] }
  const answer = dispatch(tools, message, { policy, confirm: async () => 'no' as never })
  await expect(answer).rejects.toMatchObject({
    code: 'ERR_ADAPTER_OPTIONS',
    message: expect.stringContaining('what the option confirm gave is missing or invalid.'),
  })
})

test('a whole response, or a promise of a message, is not taken for an answer without calls', async () => {
  const message = { role: 'assistant', tool_calls: [] }
  for (const mistaken of [{ choices: [{ message }] }, Promise.resolve(message)]) {
    await expect(dispatch(tools, mistaken as never)).rejects.toMatchObject({ code: 'ERR_ADAPTER_MESSAGE' })
  }
})

test('an id that can stand in no environment is answered under that id', async () => {
  for (const id of ['a\0b', 'a b', 'x'.repeat(200)]) {
    const call = { id, function: { name: 'say', arguments: '{"text":"hi"}' } }
    expect(await dispatch(tools, { tool_calls: [call] })).toEqual([
      { role: 'tool', tool_call_id: id, content: 'hi\n' },
    ])
  }
})
