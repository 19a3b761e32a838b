import { expect, test } from 'vitest'
import { complaint, load, MINIMAL, texts } from './agents.js'

test('a key in agent.yaml is an error that points to .env', async () => {
  const message = await complaint({ 'agent.yaml': 'name: a\nllm:\n  model: x\n  api_key: sk-1\n' })
  expect(message).toContain('agent/agent.yaml:4:12: llm.api_key: ')
  expect(message).toContain('.env')
})

test('credentials inside of base_url are an error that points to .env', async () => {
  const text = 'name: a\nllm:\n  model: x\n  base_url: https://me:secret@api.example.com/v1\n'
  const message = await complaint({ 'agent.yaml': text })
  expect(message).toContain('agent/agent.yaml:4:13: llm.base_url: ')
  expect(message).toContain('.env')
})

test('parameters of the API pass through, but a mistyped setting of ours is named', async () => {
  const { agent, warnings, home } = await load({
    'agent.yaml': 'name: a\nllm: { model: x, base_ulr: http://localhost:1/v1, reasoning_effort: low }\n',
  })
  expect(agent.llm.parameters).toEqual({ base_ulr: 'http://localhost:1/v1', reasoning_effort: 'low' })
  expect(texts(warnings, home)).toEqual([
    'agent/agent.yaml:2: llm.base_ulr: is passed to the API as a parameter of this name. Did you mean "base_url"?',
  ])
})

test('a policy is read, and a rule nobody knows is an error', async () => {
  const { agent } = await load({ 'agent.yaml': `${MINIMAL['agent.yaml']}policy: { allow_network: false }\n` })
  expect(agent.policy?.rules).toMatchObject({ allowNetwork: false, allowDestructive: false })
  expect(
    await complaint({ 'agent.yaml': `${MINIMAL['agent.yaml']}policy: { allow_netwrok: false }\n` }),
  ).toBe(`agent/agent.yaml:3:11: policy: there is no rule "allow_netwrok"; it would protect nothing.
  policy: { allow_netwrok: false }
            ^
Did you mean "allow_network"?`)
})

test('a policy that is wrong in itself is shown where it is wrong', async () => {
  const text = `${MINIMAL['agent.yaml']}policy:\n  allow_network: maybe\n`
  expect(await complaint({ 'agent.yaml': text })).toContain('agent/agent.yaml:4:18: policy.allow_network: ')
})

test('the turns of a scripted model are read from the file that llm.script names', async () => {
  const { agent } = await load({
    'agent.yaml': 'name: a\nllm: { provider: script, script: turns.yaml }\n',
    'turns.yaml': '- { tool_calls: [{ name: list, arguments: {} }] }\n- { content: Done. }\n',
  })
  expect(agent.script).toEqual([{ tool_calls: [{ name: 'list', arguments: {} }] }, { content: 'Done.' }])
})

test('a script that is missing or wrong is reported at its place', async () => {
  const main = 'name: a\nllm: { provider: script, script: turns.yaml }\n'
  expect(await complaint({ 'agent.yaml': main })).toContain(
    'agent/agent.yaml:2:34: llm.script: "turns.yaml" does not exist.',
  )
  const wrong = await complaint({ 'agent.yaml': main, 'turns.yaml': '- content: fine\n- content: 5\n' })
  expect(wrong).toContain('agent/turns.yaml:2:12: [1].content: ')
})

test('numbers have limits', async () => {
  const text = `${MINIMAL['agent.yaml']}max_iterations: 0\ntool_concurrency: two\n`
  const message = await complaint({ 'agent.yaml': text })
  expect(message).toContain('agent/agent.yaml:3:17: max_iterations: must be at least 1, not 0.')
  expect(message).toContain('agent/agent.yaml:4:19: tool_concurrency: must be a number, not "two".')
})

test('a version may be written as a number, and stays as it was written', async () => {
  const { agent } = await load({ 'agent.yaml': `${MINIMAL['agent.yaml']}version: 1.10\n` })
  expect(agent.version).toBe('1.10')
})

test('name and model are all an agent.yaml needs, and the messages say so', async () => {
  const message = await complaint({ 'agent.yaml': 'description: x\n' })
  expect(message).toContain('agent/agent.yaml:1:1: "name" is missing.')
  expect(message).toContain('llm.model: ')
})
