import { expect, test } from 'vitest'
import { listSettings } from '../src/index.js'
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
  const settings = await listSettings(home, { environment: {} })
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
    'tool_concurrency 1 default',
    'llm.provider "openai" default',
    'tools.list {"name":"list","command":["ls","-a"],"parameters":[],"__meta":{"syntax":"exec","template":"ls -a"},"env":{"API_KEY":"***"}} agent.yaml:7 base.yaml:2',
    'hooks.on_error {"command":["notify"],"timeout_ms":30000} hooks.yaml:1',
    'context.sources[0] {"type":"file","path":"${AGENT_HOME}/system_prompt.md"} context.yaml:2',
    'context.sources[1] {"type":"journal"} context.yaml:3',
  ])
})
