import { runProcess, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, delta, KEY, scene, served } from './delta.js'

// What no file, request or screen may hold, and what a command gets of it.

const HOOKED = { name: 'say', exec: 'echo ${text}' }

/** Every text of the workspace. */
async function textsOf({ workspace }: Awaited<ReturnType<typeof scene>>): Promise<string> {
  return (await Promise.all((await workspace.files()).map((file) => workspace.read(file)))).join('\n')
}

test('a password reaches the command that needs it, and no file, request or output', async () => {
  const secret = '«secret:call_1_1»'
  const at = await served(
    [
      calls('ask_human', { prompt: 'Key?', input_type: 'password' }),
      {
        tool_calls: [
          { name: 'length', arguments: { text: secret, same: secret } },
          { name: 'show', arguments: { text: secret } },
        ],
      },
      { content: 'Thanks.' },
    ],
    {
      tools: [
        { name: 'length', shell: 'printf %s ${text} | wc -c; wc -c', stdin: 'same' },
        { name: 'show', exec: 'echo is ${text}' },
      ],
    },
  )
  expect((await at.run()).exitCode).toBe(101)
  const result = await delta(at.words('continue', '-m', '-'), { env: KEY, input: 'hunter2-hunter3' })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Thanks.\n' })
  const observations = (await at.events('ACTION_RESULT')).map(({ observation_content: text }) => text)
  expect(observations.slice(1)).toEqual(['15\n15\n', expect.stringMatching(/^is (?!.*hunter2)/)])
  expect((await textsOf(at)) + JSON.stringify(at.server.requests()) + result.stderr).not.toContain('hunter2')
})

test('a sensitive answer is not handed on in a task, which the sub-agent would keep', async () => {
  const child = await scene()
  const exec = `delta run --agent ${child.agent.path} -m \${task} -w job`
  const at = await scene({
    tools: [{ name: 'run_sub_agent', exec }],
    turns: [
      calls('ask_human', { prompt: 'Password?', sensitive: true }),
      calls('run_sub_agent', { task: 'Log in with «secret:turn-1-1»' }),
      { content: '{{last_observation}}' },
    ],
  })
  await at.run()
  const { stdout } = await delta(at.words('continue', '-m', '-'), { input: 'open-sesame' })
  expect(stdout).toContain('BLOCKED: a sub-agent records its task, and what «secret:turn-1-1» stands for')
  expect(await textsOf(at)).not.toContain('open-sesame')
})

test('K8: a key that a server or a hook gives away is in no file of the run, no request and on no screen', async () => {
  const tell = (file: string, text: string) =>
    `echo '${text}' | sed "s/KEY/$DELTA_API_KEY/" > "$DELTA_HOOK_IO_PATH/output/${file}"`
  const hook = (script: string) => ({ command: ['sh', '-c', script], pass_env: ['DELTA_API_KEY'] })
  const hooks = {
    on_iteration_start: hook('echo "out $DELTA_API_KEY"; echo "bad key $DELTA_API_KEY" >&2; exit 1'),
    pre_tool_execution: hook('printf %s "$DELTA_API_KEY" | base64'),
    post_tool_execution: hook(tell('payload_override.dat', 'it is KEY')),
    on_iteration_end: hook(tell('notes.txt', 'it was KEY')),
  }
  const given = { ...calls('say', { text: KEY.DELTA_API_KEY }), content: `Your key is ${KEY.DELTA_API_KEY}.` }
  const at = await served([given, { content: `Again: ${KEY.DELTA_API_KEY}.` }], {
    tools: [HOOKED],
    files: { 'hooks.yaml': JSON.stringify(hooks) },
  })
  const { exitCode, stdout, stderr } = await at.run('-v')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Again: [API key].\n' })
  expect(stderr).toContain('on_iteration_start hook exited with 1: bad key [REDACTED]')
  expect(at.server.requests()[1]?.body).toContain('it is [REDACTED]')
  const all = (await textsOf(at)) + stderr + at.server.requests()[1]?.body
  expect(all).not.toContain(KEY.DELTA_API_KEY)
  expect(all).not.toContain(Buffer.from(KEY.DELTA_API_KEY).toString('base64'))
})

const LENGTHS =
  'printf "%s " $(printenv DELTA_API_KEY | tr -d "\\n" | wc -c) $(printenv OPENAI_API_KEY | tr -d "\\n" | wc -c)'

test.each([
  ['the .env of the agent', { '.env': `DELTA_API_KEY=${KEY.DELTA_API_KEY}\n` }, {}],
  ['the environment, under the other name', {}, { OPENAI_API_KEY: KEY.DELTA_API_KEY }],
])('each name of a key in pass_env has the key that the engine uses: that of %s', async (_, files, env) => {
  const pass_env = ['DELTA_API_KEY', 'OPENAI_API_KEY']
  const names = ['both', 'one', 'none']
  const generator = { command: ['sh', '-c', LENGTHS], pass_env }
  const sources = [{ type: 'computed_file', generator, output_path: 'lengths.txt' }, { type: 'journal' }]
  const { run, at, workspace, events } = await scene(
    {
      agent: { hooks: { on_run_end: { command: ['sh', '-c', `${LENGTHS} > hook.txt`], pass_env } } },
      tools: [
        { name: 'both', shell: LENGTHS, pass_env },
        { name: 'one', shell: LENGTHS, pass_env: ['OPENAI_API_KEY'] },
        { name: 'none', shell: LENGTHS },
      ],
      turns: [{ tool_calls: names.map((name) => ({ name, arguments: {} })) }, { content: 'So.' }],
      files: { 'context.yaml': JSON.stringify({ sources }), ...files },
    },
    { env },
  )
  expect((await run('-q')).stderr).not.toContain('no value')
  const length = KEY.DELTA_API_KEY.length
  const observations = (await events('ACTION_RESULT')).map(({ observation_content: text }) => text)
  expect(observations).toEqual([`${length} ${length} `, `0 ${length} `, '0 0 '])
  for (const file of ['hook.txt', 'lengths.txt'])
    expect(await workspace.read(file)).toBe(`${length} ${length} `)
  await workspace.write('lengths.txt', '')
  expect((await at('context build')).stdout).toContain(`${length} ${length} `)
})

test('a name in pass_env that has no value is a warning when the run starts', async () => {
  const { run } = await scene({
    tools: [{ name: 'ask', exec: 'true', pass_env: ['OPENAI_API_KEY', 'HOME'] }],
  })
  expect(await run('-q')).toMatchObject({
    exitCode: 0,
    stderr: 'pass_env of tool "ask": OPENAI_API_KEY has no value, so the command will not find it.\n',
  })
})

test('an agent that a script of a run starts without a key names pass_env', async () => {
  const child = await scene({ agent: { llm: { model: 'm' } } })
  const ask = { name: 'ask', shell: `delta run --agent ${child.agent.path} -w child -m Go` }
  const { run } = await scene(
    { tools: [ask], turns: [calls('ask'), { content: '{{last_observation}}' }] },
    { env: KEY },
  )
  const { stdout } = await run('-q')
  expect(stdout).toContain('a tool of another run started this agent, and was not given them')
  expect(stdout).toContain('Add to that tool: pass_env: [OPENAI_API_KEY]')
})

test('K8: the key of the environment is in no file of a run, nor is one of a .env in what config prints', async () => {
  const at = await served([{ content: 'Done.' }], {
    files: { '.env': 'OPENAI_API_KEY=another-key-not-real\n' },
  })
  await at.run()
  await using config = await temporaryWorkspace({
    config: (await at.at('config', '--agent', at.agent.path)).stdout,
  })
  for (const directory of [at.workspace.path, config.path])
    expect(await runProcess(['grep', '-rE', 'key-not-real', directory])).toMatchObject({
      exitCode: 1,
      stdout: '',
    })
})
