import type { Fault } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, delta, KEY, scene, served } from './delta.js'

// What a run does about a model that fails, or sends what it should not.

const noTrace = { stderr: expect.not.stringMatching(/^\s+at /m) }

test('each failure that is tried again is a line with the delay, and the last one is said once, with what to do', async () => {
  const { run, at, agent } = await served([{ status: 500, message: 'boom' }])
  const main = JSON.parse(await agent.read('agent.yaml'))
  await agent.write('agent.yaml', JSON.stringify({ ...main, llm: { ...main.llm, max_attempts: 3 } }))
  const { stderr, exitCode } = await run()
  expect(exitCode).toBe(1)
  const lines = stderr.split('\n')
  const retry = expect.stringMatching(/^ {3}! .*could not answer \(500\): boom; trying again in \d.*s$/)
  expect(lines.filter((line) => line.includes('boom'))).toEqual([
    retry,
    retry,
    expect.stringMatching(/^Error: the run failed: .*could not answer \(500\): boom$/),
  ])
  expect(lines.filter((line) => line.startsWith('FAILED'))).toEqual(['FAILED after 0 iterations'])
  expect((await at('show')).stdout).toContain('The fault is on the other side')
})

test.each([
  [
    'a refused key',
    'text',
    { status: 401, message: 'No access' },
    'No access',
    'Once that is fixed, retry with',
  ],
  ['HTML instead of JSON', 'json', { fault: 'html' }, 'JSON', 'Retry with'],
] satisfies [string, string, Fault, string, string][])(
  '%s fails the run: exit code 1, the cause and the way on once on stderr, with --format %s',
  async (_, format, fault, cause, retry) => {
    const { run, at, agent, events, workspace } = await served([fault])
    const main = JSON.parse(await agent.read('agent.yaml'))
    await agent.write('agent.yaml', JSON.stringify({ ...main, llm: { ...main.llm, max_attempts: 1 } }))
    const result = await run('--run-id', 'one', '--format', format)
    expect(result).toMatchObject({ exitCode: 1, ...(format === 'text' && { stdout: '' }), ...noTrace })
    expect(result.stderr).toContain('Error: the run failed: ')
    expect(result.stderr).toContain(cause)
    const way = `${retry}: delta continue -w ${workspace.path} --run-id one --retry\n`
    expect(result.stderr.endsWith(`\n${way}`)).toBe(true)
    expect(result.stderr).not.toContain(KEY.DELTA_API_KEY)
    expect((await events()).at(-1)).toMatchObject({ status: 'FAILED' })
    const shown = await at('show')
    expect(shown.stderr).toBe(way)
    if ('status' in fault)
      expect([shown.stdout.split(cause), result.stderr.split(cause)]).toMatchObject([
        { length: 2 },
        { length: 2 },
      ])
  },
)

test('a server that asks for more than five minutes is not asked again, and the run says how long it asked for', async () => {
  const { run, at, server, events } = await served([
    { before: [{ status: 429, retryAfter: '1500' }], content: 'Done.' },
  ])
  const failed = await run('-q')
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
  expect(failed.stderr).toContain('The server asks to wait 25 minutes, and at most 5 minutes are waited here')
  expect(server.requests()).toHaveLength(1)
  expect(await events('ERROR')).toMatchObject([{ recoverable: false }])
  expect((await at('continue', '-m', 'Try again')).stdout).toBe('Done.\n')
})

test('Ctrl+C while the next attempt is waited for interrupts the run at once', async () => {
  const { start, at } = await served([{ before: [{ status: 429, retryAfter: '200' }], content: 'Done.' }])
  const engine = start()
  await engine.waitForOutput('trying again in 3 min 20 s', { stream: 'stderr' })
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  expect((await at('continue')).stdout).toBe('Done.\n')
})

test('an answer that was cut off is not printed, and stderr says where what there is of it can be read', async () => {
  const { run } = await served([{ content: 'Half of it', finish_reason: 'length' }])
  const failed = await run()
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
  const [, line = ''] = /^See what there is of it: delta (.*)$/m.exec(failed.stderr) ?? []
  expect((await delta(line.split(' '))).stdout).toContain('Half of it')
})

test('calls that were cut off or cannot be made are results that the model can read, and never crash the command line', async () => {
  const deep = `{"text":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
  const sent = [
    { name: 'say', arguments: '{"text": broken' },
    { name: 'say', arguments: '[]' },
    { name: 'say', arguments: deep },
    { name: 'ask_human', arguments: deep },
    { name: '../../escape', arguments: {} },
    { id: '../../escape', name: 'say', arguments: { text: 'fine' } },
    { id: 'x'.repeat(300), name: 'say', arguments: { text: 'fine' } },
    { name: 'say', arguments: '{"__proto__": {"x": 1}, "text": "fine"}' },
    { name: 'say', arguments: { text: 'x'.repeat(200_000) } },
  ]
  const cut = { ...calls('say'), tool_calls: [{ name: 'say', arguments: '{"text":"one two th' }] }
  const { run, events, workspace } = await served(
    [{ tool_calls: sent }, { ...cut, finish_reason: 'length' }, { content: 'Done.' }],
    { tools: [{ name: 'say', exec: 'echo ${text}' }] },
  )
  const result = await run()
  expect(result, result.stderr).toMatchObject({ exitCode: 0, stdout: 'Done.\n', ...noTrace })
  const results = await events('ACTION_RESULT')
  expect(results).toHaveLength(sent.length + 1)
  const said = `ERROR: the answer was cut off at the model's token limit (finish_reason: length), in the arguments of "say". Nothing was run.`
  expect(results.at(-1)).toMatchObject({
    status: 'ERROR',
    observation_content: expect.stringContaining(said),
  })
  expect(result.stderr).toContain(said)
  expect((await workspace.files()).every((file) => file.startsWith('.delta/'))).toBe(true)
})

test('a script that has run out, and a run that differs from its recording, say what to fix', async () => {
  const recorded = await scene({ turns: [{ content: 'Said.' }] })
  await recorded.run('--run-id', 'recording')
  expect((await recorded.at('continue', '-m', 'More')).stderr).toMatch(
    /script\.yaml: The script has 1 turn, .*\nOnce that is fixed, retry with: delta continue .* --retry$/m,
  )
  const script = `${recorded.workspace.path}/.delta/recording`
  const { run, at } = await scene({ agent: { llm: { provider: 'replay', script } } })
  expect((await run()).stdout).toBe('Said.\n')
  const differs = await run('-m', 'Else')
  expect(differs.exitCode).toBe(1)
  expect(differs.stderr).toMatch(
    /or record the run again\.\nTo start a new one: delta run -w \S+ --agent <agent> -m <task>\n$/,
  )
  const retried = await at('continue', '--retry')
  expect(retried.exitCode).toBe(2)
  expect(retried.stderr).toMatch(
    /ended with replay_mismatch .* Start a new run\.\nTo start a new one: delta run /s,
  )
})

test('a model may be a script beside the agent, named with ${AGENT_HOME}; a key that it prints is redacted', async () => {
  const { run, workspace } = await scene(
    {
      agent: { llm: { provider: 'command', command: ['sh', '${AGENT_HOME}/model.sh'] } },
      files: { 'model.sh': `cat > /dev/null; echo "{\\"content\\":\\"Said with $DELTA_API_KEY.\\"}"\n` },
    },
    { env: { DELTA_API_KEY: 'test-key-not-real' } },
  )
  expect(await run('-q')).toMatchObject({ exitCode: 0, stdout: 'Said with [REDACTED].\n' })
  const files = (await workspace.files()).map((name) => workspace.read(name))
  expect((await Promise.all(files)).join()).not.toContain('test-key-not-real')
})

test('a server is asked with the tools and the conversation, at the address of the environment or of .env', async () => {
  const turns = [
    calls('greet', { who: 'the "world"; rm -rf x' }),
    { content: 'It said: {{last_observation}}' },
  ]
  const { run, server, agent } = await served(turns, {
    tools: [{ name: 'greet', description: 'Greets.', exec: 'echo Hello ${who}' }],
  })
  expect((await run()).stdout).toBe('It said: Hello the "world"; rm -rf x\n')
  const [first, second] = server.requests()
  expect(first?.json).toMatchObject({
    tools: [{ function: { name: 'greet' } }, { function: { name: 'ask_human' } }],
  })
  expect(first?.headers['user-agent']).toMatch(/^delta-engine\/\d/)
  const result = { role: 'tool', content: 'Hello the "world"; rm -rf x\n' }
  expect(second?.json?.messages.at(-1)).toMatchObject(result)

  const main = (await agent.read('agent.yaml')).replace(server.baseUrl, 'http://127.0.0.1:9/v1')
  await agent.write('agent.yaml', main)
  await agent.write('.env', `DELTA_BASE_URL=${server.baseUrl}\n`)
  expect((await run('--new')).stdout).toContain('It said: Hello')
})
