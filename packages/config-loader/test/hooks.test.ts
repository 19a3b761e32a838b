import { expect, test } from 'vitest'
import { HOOK_NAMES } from '../src/hooks.js'
import { complaint, load, MINIMAL } from './agents.js'

test('every hook has a command, a time limit and the credentials it may see', async () => {
  const { agent } = await load({
    'hooks.yaml': `pre_llm_request:
  command: [python3, "\${AGENT_HOME}/optimize.py"]
  timeout_ms: 500
  pass_env: [OPENAI_API_KEY]
on_run_end: { command: [delta-sessions, cleanup] }
`,
  })
  expect(agent.hooks).toEqual({
    pre_llm_request: {
      command: ['python3', '${AGENT_HOME}/optimize.py'],
      timeoutMs: 500,
      passEnv: ['OPENAI_API_KEY'],
    },
    on_run_end: { command: ['delta-sessions', 'cleanup'], timeoutMs: 30_000, passEnv: [] },
  })
})

test('all eight hooks can be given', async () => {
  const { agent } = await load({
    'hooks.yaml': HOOK_NAMES.map((name) => `${name}: { command: [x] }\n`).join(''),
  })
  expect(Object.keys(agent.hooks)).toEqual([...HOOK_NAMES])
})

test.each([
  ['before_everything: { command: [x] }\n', 'The hooks are pre_llm_request, post_llm_response, '],
  ['- on_error: { command: [x] }\n', 'must be a map from hook names to commands.'],
  ['on_error: { command: [sleep, 5] }\n', 'command[1]: must be a text, not 5.\n'],
  ['on_error: { command: [sleep, 5] }\n', '\nWrite it in quotes.'],
  ['on_error: notify me\n', 'Write: { command: ["notify","me"] }'],
  ['on_error: ls | wc\n', 'Write: { command: ["sh","-c","ls | wc"] }'],
])('hooks written as %j are answered with how to write them', async (text, expected) => {
  expect(await complaint({ 'hooks.yaml': text })).toContain(expected)
})

test.each(['hooks', 'context'])('%s.yml is an error, too: it would not be read', async (name) => {
  const message = await complaint({
    [`${name}.yml`]: 'x: 1\n',
    ...(name === 'context' && { 'context.yaml': undefined }),
  })
  expect(message).toBe(`agent/${name}.yml: Not read by this name.\nRename it to ${name}.yaml.`)
})

test('a command written as one text is answered with how to write it', async () => {
  expect(
    await complaint({ 'hooks.yaml': 'on_error:\n  command: notify me\n' }),
  ).toBe(`agent/hooks.yaml:2:12: on_error.command: must be a list, not "notify me".
  command: notify me
           ^
Write: command: ["notify","me"]`)
})

test('a hook without a command, and one with an unknown key in strict mode', async () => {
  expect(await complaint({ 'hooks.yaml': 'on_error:\n' })).toContain(
    'on_error: must be a map with "command", not nothing.',
  )
  expect(await complaint({ 'hooks.yaml': 'on_error: {}\n' })).toContain('on_error: "command" is missing.')
  const message = await complaint(
    { 'hooks.yaml': 'on_error: { command: [x], timeout: 5 }\n' },
    { strict: true },
  )
  expect(message).toContain('on_error: unknown key "timeout".')
  expect(message).toContain('Did you mean "timeout_ms"?')
})

test('a hook under both of its names is an error, not a choice', async () => {
  const text = 'pre_llm_req: { command: [a] }\npre_llm_request: { command: [b] }\n'
  expect(await complaint({ 'hooks.yaml': text })).toContain(
    'agent/hooks.yaml:2:1: "pre_llm_request" is given under both of its names.',
  )
})

test('the hooks of agent.yaml under both of their names are an error, not a choice', async () => {
  const text = 'lifecycle_hooks: { on_error: { command: [a] } }\nhooks: { on_run_end: { command: [b] } }\n'
  expect(await complaint({ 'agent.yaml': MINIMAL['agent.yaml'] + text })).toContain(
    '"hooks" and "lifecycle_hooks" mean the same; only one of them can be given.',
  )
})

test('a hook beside lifecycle_hooks would be overlooked, and is an error', async () => {
  const text = 'lifecycle_hooks:\n  on_error: { command: [a] }\npre_tool_execution: { command: [guard] }\n'
  expect(await complaint({ 'hooks.yaml': text })).toContain(
    'agent/hooks.yaml:3:1: "pre_tool_execution" stands beside "lifecycle_hooks:" and would not be read.',
  )
})

test('keys that begin with x- are the author’s own', async () => {
  const { agent, warnings } = await load({ 'hooks.yaml': 'x-common: &c { command: [a] }\non_error: *c\n' })
  expect(agent.hooks.on_error?.command).toEqual(['a'])
  expect(warnings).toEqual([])
})
