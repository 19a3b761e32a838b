import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, journalOf } from './delta.js'

const KEY = 'test-key-not-real'
const LENGTH = String(KEY.length)

test.each([
  ['the .env of the agent', { '.env': `DELTA_API_KEY=${KEY}\n` }, {}],
  ['the environment', {}, { DELTA_API_KEY: KEY }],
  ['the environment, under the other name', {}, { OPENAI_API_KEY: KEY }],
])('each name of a key in pass_env has the key that the engine uses: that of %s', async (_, files, env) => {
  const lengths =
    'printf "%s " $(printenv DELTA_API_KEY | tr -d "\\n" | wc -c) $(printenv OPENAI_API_KEY | tr -d "\\n" | wc -c)'
  const pass_env = ['DELTA_API_KEY', 'OPENAI_API_KEY']
  await using agent = await temporaryAgent({
    agent: { hooks: { on_run_end: { command: ['sh', '-c', `${lengths} > hook.txt`], pass_env } } },
    tools: [
      { name: 'both', description: 'x', shell: lengths, pass_env },
      { name: 'one', description: 'x', shell: lengths, pass_env: ['OPENAI_API_KEY'] },
      { name: 'none', description: 'x', shell: lengths },
    ],
    turns: [
      { tool_calls: ['both', 'one', 'none'].map((name) => ({ name, arguments: {} })) },
      { content: 'So.' },
    ],
    files,
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], {
    env,
  })
  expect(stderr).not.toContain('no value')
  const observations = (await journalOf(workspace.path)).flatMap((event) =>
    event.type === 'ACTION_RESULT' && 'observation_content' in event ? [event.observation_content] : [],
  )
  expect(observations).toEqual([`${LENGTH} ${LENGTH} `, `0 ${LENGTH} `, '0 0 '])
  expect(await workspace.read('hook.txt')).toBe(`${LENGTH} ${LENGTH} `)
})

test('a name in pass_env that has no value is a warning when the run starts', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'ask', description: 'x', exec: 'true', pass_env: ['OPENAI_API_KEY', 'HOME'] }],
  })
  await using workspace = await temporaryWorkspace({})
  const { exitCode, stderr } = await delta([
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
    '-q',
  ])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: 'pass_env of tool "ask": OPENAI_API_KEY has no value, so the command will not find it.\n',
  })
})

test('an agent that a script of a run starts without a key names pass_env', async () => {
  await using child = await temporaryAgent({ agent: { llm: { model: 'm' } } })
  await using agent = await temporaryAgent({
    tools: [{ name: 'ask', description: 'x', shell: `delta run --agent ${child.path} -w child -m Go` }],
    turns: [{ tool_calls: [{ name: 'ask', arguments: {} }] }, { content: '{{last_observation}}' }],
  })
  await using workspace = await temporaryWorkspace({})
  const { stdout } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], {
    env: { DELTA_API_KEY: KEY },
  })
  expect(stdout).toContain('a tool of another run started this agent, and was not given them')
  expect(stdout).toContain('Add to that tool: pass_env: [DELTA_API_KEY]')
})
