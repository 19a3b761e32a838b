import { expect, test } from 'vitest'
import { listSettings } from '../src/internal.js'
import { agentOf } from './agents.js'

test('every value is listed with the line it comes from, defaults as such, secrets masked', async () => {
  const home = await agentOf({
    'agent.yaml': `name: tester
llm:
  model: gpt-4o
  user_token: t
imports: [base.yaml]
tools:
  - { name: list, exec: ls -a, env: { API_KEY: k } }
`,
    'base.yaml': 'tools:\n  - { name: list, exec: ls }\n',
    'hooks.yaml': 'on_error: { command: [notify] }\n',
  })
  const settings = await listSettings(home, { env: {} })
  const shown = settings.map(({ path, value, origin, replaces = [] }) =>
    [
      path,
      JSON.stringify(value),
      ...[origin, ...replaces].map((place) => place.replace(`${home}/`, '')),
    ].join(' '),
  )
  expect(shown).toEqual([
    'name "tester" agent.yaml:1',
    'llm.model "gpt-4o" agent.yaml:3',
    'llm.user_token "***" agent.yaml:4',
    'system_prompt "system_prompt.md" default',
    'max_iterations 30 default',
    'tool_concurrency 1 default',
    'max_tool_calls 128 default',
    'accept_empty false default',
    'llm.provider "openai" default',
    'llm.api "chat" default',
    'llm.base_url "https://api.openai.com/v1" default',
    'llm.timeout_ms 600000 default',
    'llm.stream true default',
    'llm.max_attempts 5 default',
    'llm.strict_tools false default',
    'tools.*.timeout_ms 600000 default',
    'tools.*.on_interrupt "report" default',
    'tools.*.critical false default',
    'tools.*.output {"as":"text","part_bytes":5000000,"max_chars":30000,"keep":"both","max_bytes":1000000000} default',
    'context.sources[*].on_missing "error" default',
    'tools.list {"name":"list","command":["ls","-a"],"parameters":[],"__meta":{"syntax":"exec","template":"ls -a"},"env":{"API_KEY":"***"}} agent.yaml:7 base.yaml:2',
    'hooks.on_error {"command":["notify"],"timeout_ms":30000} hooks.yaml:1',
    'context.sources[0] {"type":"file","path":"${AGENT_HOME}/system_prompt.md"} context.yaml:2',
    'context.sources[1] {"type":"journal"} context.yaml:3',
  ])
})

test('a policy is listed rule by rule; a value that is written has no default beside it', async () => {
  const home = await agentOf({
    'agent.yaml': `name: a
llm: { model: m, max_attempts: 2 }
max_iterations: 7
policy: { allow_network: false }
`,
  })
  const settings = await listSettings(home, { env: {} })
  const shown = settings.map(
    ({ path, value, origin }) => `${path} ${value} ${origin.replace(`${home}/`, '')}`,
  )
  expect(shown).toEqual(
    expect.arrayContaining([
      'llm.max_attempts 2 agent.yaml:2',
      'max_iterations 7 agent.yaml:3',
      'policy.allow_network false agent.yaml:4',
      'policy.allow_destructive false default',
      'policy.min_trust_level inferred default',
      'policy.on_confirmation ask_human default',
    ]),
  )
  const paths = settings.map(({ path }) => path)
  expect(paths.filter((path, index) => paths.indexOf(path) !== index)).toEqual([])
})
