import { defineTool } from '@delta/executor'
import { DEFAULT_RULES } from '@delta/executor/internal'
import { expect, test } from 'vitest'
import { dispatch } from '../src/index.js'

const tools = [defineTool({ name: 'say', exec: 'echo ${text}' })]

test('a policy that nobody has read is refused, and nothing is run', async () => {
  const message = { tool_calls: [{ id: '1', function: { name: 'say', arguments: '{"text":"hi"}' } }] }
  const answer = dispatch(tools, message, { policy: { allow_network: false } as never })
  await expect(answer).rejects.toMatchObject({ code: 'ERR_EXECUTOR_USAGE' })
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

test('an answer of confirm other than true is no agreement, and nothing is run', async () => {
  const policy = { rules: DEFAULT_RULES, onConfirmation: 'ask_human' as const }
  const message = { tool_calls: [{ id: '1', function: { name: 'say', arguments: '{"text":"hi"}' } }] }
  const [answer] = await dispatch(tools, message, { policy, confirm: async () => 'no' as never })
  expect(answer?.content).toContain("needs a person's approval")
})

test('an id that can stand in no environment is answered under that id', async () => {
  for (const id of ['a\0b', 'a b', 'x'.repeat(200)]) {
    const call = { id, function: { name: 'say', arguments: '{"text":"hi"}' } }
    expect(await dispatch(tools, { tool_calls: [call] })).toEqual([
      { role: 'tool', tool_call_id: id, content: 'hi\n' },
    ])
  }
})
