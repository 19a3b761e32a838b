import {
  MINIMAL_CONTEXT,
  runProcess,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { cleanEnvironment, DELTA, delta, journalOf, startDelta } from './delta.js'

// What a person, a program and the model are told of a run that stopped, and of how it goes on.

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

/** A workspace with a waiting run, and what delta said and printed about it. */
async function waiting(question: Record<string, unknown>, ...flags: string[]) {
  const agent = await temporaryAgent({
    turns: [{ tool_calls: [{ name: 'ask_human', arguments: question }] }, { content: 'So be it.' }],
  })
  const workspace = await temporaryWorkspace({})
  const result = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, ...flags])
  return {
    ...result,
    workspace: workspace.path,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]()
      await workspace[Symbol.asyncDispose]()
    },
  }
}

test('a command that outlived its engine is ended by continue, and the person and the model are told so', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo begun > witness; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'The end.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/witness`)
  engine.kill('SIGKILL')
  await engine.result

  const { stderr } = await delta(['continue', '-w', workspace.path])
  expect(stderr).toContain('\nnote: The command of "work" was still running, and has been ended.\n')
  // the result stands under its command, though that was shown by the engine before
  expect(stderr).toMatch(/\n {3}work \$ sh -c 'echo begun > witness; exec sleep 300'.*\n {5}\[interrupted: /)
  const [result] = (await journalOf(workspace.path)).filter(({ type }) => type === 'ACTION_RESULT')
  expect(result).toMatchObject({
    observation_content: expect.stringContaining('It was still running and has been ended.'),
  })
})

test('of a command that ended with its engine nobody is told that it was still running', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'die', shell: 'kill -9 $PPID' }],
    turns: [{ tool_calls: [{ name: 'die', arguments: {} }] }, { content: 'The end.' }],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stderr, stdout } = await delta(['continue', '-w', workspace.path])
  expect(stdout).toBe('The end.\n')
  expect(stderr).toContain('[interrupted: ')
  expect(stderr).not.toContain('still running')
})

test('--format json: what a question has is named as everything else, in small letters with _', async () => {
  await using asked = await waiting({ prompt: 'Sure?', input_type: 'confirmation' }, '--format', 'json')
  const { question } = JSON.parse(asked.stdout)
  const [request] = (await journalOf(asked.workspace)).filter(({ type }) => type === 'HUMAN_INPUT_REQUEST')
  const { request_id } = request as unknown as { request_id: string }
  expect(question).toEqual({ request_id, prompt: 'Sure?', input_type: 'confirmation', sensitive: false })
})

test('--format json: a command that waits is named with its tool, the reasons and the request id', async () => {
  await using agent = await temporaryAgent({
    agent: { policy: { on_confirmation: 'ask_human' } },
    tools: [{ name: 'make', exec: 'touch made', effects: { destructive: true } }],
    turns: [{ tool_calls: [{ name: 'make', arguments: {} }] }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--format', 'json']
  const { stdout } = await delta(args)
  expect(JSON.parse(stdout).question).toMatchObject({
    request_id: expect.any(String),
    input_type: 'confirmation',
    command: 'touch made',
    tool: 'make',
    reasons: [expect.any(String)],
  })
})

test('a run that asks ends with the question, each way to answer it, and its id once', async () => {
  await using asked = await waiting({ prompt: 'Which colour?' }, '--run-id', 'one')
  expect(asked.exitCode).toBe(101)
  expect(asked.stderr).toContain(`WAITING_FOR_INPUT after 1 iteration
Agent paused. It asks: Which colour?
Answer with: delta continue -w ${asked.workspace} --run-id one -m "my answer"
-i in place of -m asks here. Or put it into interaction/response.txt in the directory of the run, and leave out both.
`)
})

test('a confirmation says how yes and no are typed', async () => {
  await using asked = await waiting({ prompt: 'Sure?', input_type: 'confirmation' })
  expect(asked.stderr).toMatch(/^Answer with: delta continue -w \S+ --run-id \S+ -m yes {3}\(or: -m no\)$/m)
})

test.for([
  [{ input_type: 'password' }, ''],
  [{ input_type: 'confirmation', sensitive: true }, '   (yes or no)'],
] as const)(
  'a secret is first of all to be typed unseen, and on no command line: %j',
  async ([kind, last]) => {
    await using asked = await waiting({ prompt: 'Key?', ...kind })
    const [, goOn] = /with: (delta continue -w \S+ --run-id \S+) -i/m.exec(asked.stderr) ?? []
    const shown = asked.stderr.slice(asked.stderr.indexOf('Agent paused')).trimEnd().split('\n').slice(1)
    expect(asked.stderr).toContain('Agent paused. It asks: Key?\n')
    expect(shown).toEqual([
      `Answer unseen with: ${goOn} -i${last}`,
      '-m - in place of -i reads it from stdin. Or put it into interaction/response.txt in the directory of the run, and leave out both.',
    ])
  },
)

test('an answer to ask_human is shown as the words of a person, without the exit code and time of a command', async () => {
  await using asked = await waiting({ prompt: 'Which colour?' })
  const { stderr } = await delta(['continue', '-w', asked.workspace, '-m', 'green'])
  expect(stderr).toMatch(/^resuming .*\n {3}ask_human \? Which colour\?\n {3}> green\nCOMPLETED/m)
  const { stdout } = await delta(['show', '-w', asked.workspace])
  expect(stdout).toMatch(/^resuming .*\n {3}> green\n2\. .*\nCOMPLETED/m)
})

test('of a secret answer progress shows the name it goes by, and not what the model is told of it', async () => {
  await using asked = await waiting({ prompt: 'The key?', input_type: 'password' })
  const { stderr } = await delta(['continue', '-w', asked.workspace, '-m', '-'], { input: 'hunter22\n' })
  expect(stderr).toMatch(/^resuming .*\n {3}ask_human \? The key\?\n {3}> «secret:\S+»\nCOMPLETED/m)
})

test('an answer that was cut off is not printed, and stderr says where what there is of it can be read', async () => {
  await using server = await startScriptedServer([{ content: 'Half of it', finish_reason: 'length' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const failed = await delta(args, { env: KEY })
  expect(failed).toMatchObject({ exitCode: 1, stdout: '' })
  const [, line = ''] = /^See what there is of it: delta (.*)$/m.exec(failed.stderr) ?? []
  const shown = await delta(line.split(' '))
  expect(shown).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Half of it') })
})

test('a failure that stays until something is mended says that before it says how to try again', async () => {
  await using server = await startScriptedServer([{ status: 401, message: 'No.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const { stderr } = await delta(args, { env: KEY })
  expect(stderr).toMatch(/^Once that is fixed, retry with: delta continue .* --retry$/m)
})

test('a context that cannot be built is something to be mended, too', async () => {
  await using agent = await temporaryAgent({
    files: { 'context.yaml': `total_max_tokens: 1\n${MINIMAL_CONTEXT}` },
  })
  await using workspace = await temporaryWorkspace({})
  const { stderr } = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(stderr).toMatch(/^Raise .*\nOnce that is fixed, retry with: delta continue .* --retry$/m)
})

test('a script that has no further turn is something to be mended, too', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'The end.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const { stderr } = await delta(['continue', '-w', workspace.path, '-m', 'More'])
  expect(stderr).toMatch(
    /one for each answer of the model\.\nOnce that is fixed, retry with: delta continue .* --retry$/m,
  )
})

test('a run that differs from the recording it replays is retried without a message, for none is in a recording', async () => {
  await using workspace = await temporaryWorkspace({})
  await using recorded = await temporaryAgent({ turns: [{ content: 'Said.' }] })
  const recording = ['run', '--agent', recorded.path, '-w', workspace.path, '--run-id', 'recording']
  await delta([...recording, '-m', 'Go'])
  const script = `${workspace.path}/.delta/recording`
  await using agent = await temporaryAgent({ agent: { llm: { provider: 'replay', script } } })
  const { exitCode, stderr } = await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Else'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/or record the run again\.\nOnce that is fixed, retry with: delta .* --retry\n$/)

  await delta(['run', '--agent', recorded.path, '-w', workspace.path, '--run-id', 'again', '-m', 'Else'])
  const main = await agent.read('agent.yaml')
  await agent.write('agent.yaml', main.replace('.delta/recording', '.delta/again'))
  const retry = stderr.split('retry with: delta ').at(-1)?.trim().split(' ') ?? []
  expect(await delta(retry)).toMatchObject({ exitCode: 0, stdout: 'Said.\n' })
})

test('a run that is out of iterations goes on with the same line, whether run or show is asked', async () => {
  await using workspace = await temporaryWorkspace({})
  const turns = [{ tool_calls: [{ name: 'say', arguments: {} }] }]
  await using agent = await temporaryAgent({ turns, tools: [{ name: 'say', exec: 'echo hi' }] })
  const task = ['-m', 'Go', '-w', workspace.path, '--max-iterations', '1']
  const { stderr } = await delta(['run', '--agent', agent.path, ...task])
  const [line = 'none'] = /^Go on with: .*\n$/m.exec(stderr) ?? []
  expect((await delta(['show', '-w', workspace.path])).stderr).toBe(line)
})

test('a second Ctrl+C, too, says how to go on', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'trap "" TERM; echo begun > witness; sleep 300; sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'The end.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta([
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
    '--run-id',
    'one',
  ])
  await waitForFile(`${workspace.path}/witness`)
  engine.kill('SIGINT')
  await engine.waitForOutput('once more to stop at once', { stream: 'stderr' })
  engine.kill('SIGINT')
  const { stderr, exitCode } = await engine.result
  expect(exitCode).toBe(130)
  expect(stderr).toContain(
    `\nStopped at once. Go on with: delta continue -w ${workspace.path} --run-id one\n`,
  )
})

test('a failure that is tried again is one sentence, whatever its end', async () => {
  await using server = await startScriptedServer([{ before: [{ fault: 'html' }], content: 'Done.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  const { stderr } = await delta(args, { env: KEY })
  expect(stderr).toMatch(/answers like this, too; trying again in \d/)
})

test.each([
  ['5400', '90 minutes'],
  ['7200', '2 hours'],
  ['432000', '5 days'],
  ['2300940000', '26632 days'],
])('a server that asks to wait %s seconds is said to ask for %s', async (seconds, said) => {
  await using server = await startScriptedServer([{ status: 429, retryAfter: seconds }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path]
  expect((await delta(args, { env: KEY })).stderr).toContain(`The server asks to wait ${said}, and`)
})

test('stopped by Ctrl+C, also a quiet run says how it goes on', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo begun > witness; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q']
  const engine = startDelta(args)
  await waitForFile(`${workspace.path}/witness`)
  engine.kill('SIGINT')
  const { stderr, exitCode } = await engine.result
  expect(exitCode).toBe(130)
  expect(stderr).toContain(
    `Interrupted (SIGINT).\nGo on with: delta continue -w ${workspace.path} --run-id one\n`,
  )
})

test('a workspace whose name holds control characters is shown without them in commands that still work when pasted', async () => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] },
      { content: 'So be it.' },
    ],
  })
  await using home = await temporaryWorkspace({})
  const workspace = `${home.path}/red \u001b[31m'x'\r\u202e\u2066`
  const asked = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace])
  const shown = await delta(['show', '-w', workspace])
  for (const { stderr } of [asked, shown]) expect(stderr).not.toMatch(/[\u001b\r\u202e\u2066]/)
  const [, example] = /^Answer with: delta (.*) -m "my answer"$/m.exec(asked.stderr) ?? []
  const typed = `"$NODE" "$DELTA" ${example} -i`
  // without --norc, bash takes a socket, which this stdin is, for a login from afar and runs the tester's own .bashrc
  const pasted = await runProcess(['bash', '--norc', '-c', typed], {
    env: cleanEnvironment({ NODE: process.execPath, DELTA }),
    input: 'green\n',
  })
  expect(pasted, pasted.stderr).toMatchObject({ exitCode: 0, stdout: 'So be it.\n' })
})

test('where the recipe has no journal, a run without an answer is told to add it, for no message would help', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'look', exec: 'true' }],
    turns: [{ tool_calls: [{ name: 'look', arguments: {} }] }],
    files: { 'context.yaml': "sources: [{ type: file, path: '${AGENT_HOME}/system_prompt.md' }]\n" },
  })
  await using workspace = await temporaryWorkspace({})
  const where = ['-w', workspace.path, '--run-id', 'one']
  const { stderr } = await delta([
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    ...where,
    '--max-iterations',
    '1',
  ])
  const goOn = `delta continue -w ${workspace.path} --run-id one --retry --max-iterations 2`
  expect(stderr).toContain('there is no journal source; the model sees neither the task nor what it did')
  expect(stderr.split('\n').slice(-3)).toEqual([
    'Error: the run failed: MAX_ITERATIONS (no answer after 1 iteration)',
    `Go on with: ${goOn}`,
    '',
  ])
})
