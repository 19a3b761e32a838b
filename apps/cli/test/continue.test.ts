import { cp, realpath, rename, rm } from 'node:fs/promises'
import {
  isAlive,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForExit,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta, eventTypes, journalOf, startDelta } from './delta.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

test('a run killed with -9 while a tool runs is finished by continue, and the tool is not run twice', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'work', arguments: {} }] },
    { content: 'The end.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'work', shell: 'echo started >> witness.txt; exec sleep 300' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await waitForFile(`${workspace.path}/witness.txt`)
  engine.kill('SIGKILL')
  await engine.result

  const result = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  expect(await workspace.read('witness.txt')).toBe('started\n')
  const events = await journalOf(workspace.path)
  expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.filter((event) => event.type === 'ACTION_RESULT')).toMatchObject([{ status: 'INTERRUPTED' }])
  expect(server.requests().map((request) => request.outcome)).toEqual(['answer', 'answer'])
})

test('after continue no process of the killed engine is left', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'work', arguments: {} }] },
    { content: 'The end.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await waitForFile(`${workspace.path}/pid.txt`, (text) => text.endsWith('\n'))
  const pid = Number(await workspace.read('pid.txt'))
  engine.kill('SIGKILL')
  await engine.result
  expect(isAlive(pid)).toBe(true)

  await delta(['continue', '-w', workspace.path], { env: KEY })
  await waitForExit(pid)
  expect(isAlive(pid)).toBe(false)
})

test('a generator that outlived its engine is ended by continue before it is run again', async () => {
  const script = "[ -e slow.pid ] && exec echo quick; sh -c 'echo $$ > slow.pid; exec sleep 300'"
  const context = {
    sources: [
      { type: 'computed_file', generator: { command: ['sh', '-c', script] }, output_path: 'memory.txt' },
      { type: 'journal' },
    ],
  }
  await using agent = await temporaryAgent({ files: { 'context.yaml': JSON.stringify(context) } })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one']
  const engine = startDelta(args)
  await waitForFile(`${workspace.path}/slow.pid`, (text) => text.endsWith('\n'))
  await waitForFile(`${workspace.path}/.delta/one/io/generator.json`, (text) => text.endsWith('\n'))
  const slow = Number(await workspace.read('slow.pid'))
  engine.kill('SIGKILL')
  await engine.result
  expect(isAlive(slow)).toBe(true)

  const { stdout, stderr } = await delta(['continue', '-w', workspace.path])
  expect(stdout).toBe('Done.\n')
  expect(stderr).toContain('note: A generator was still running, and has been ended.\n')
  await waitForExit(slow)
})

test('a run killed while the model thinks asks it again', async () => {
  await using server = await startScriptedServer([{ content: 'Here I am.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)
  engine.kill('SIGKILL')
  await engine.result

  await server.release('thinking')
  const result = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(result.stdout).toBe('Here I am.\n')
})

test('Ctrl+C ends the tool, leaves the run INTERRUPTED with exit code 130, and continue goes on', async () => {
  await using server = await startScriptedServer([
    { tool_calls: [{ name: 'work', arguments: {} }] },
    { content: 'The end.' },
  ])
  await using agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await waitForFile(`${workspace.path}/pid.txt`, (text) => text.endsWith('\n'))
  engine.kill('SIGINT')
  expect((await engine.result).exitCode).toBe(130)
  expect(isAlive(Number(await workspace.read('pid.txt')))).toBe(false)
  expect((await journalOf(workspace.path)).at(-1)).toMatchObject({
    type: 'ENGINE_END',
    status: 'INTERRUPTED',
  })

  const result = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
})

test('a completed run is extended by a message, and refuses to go on without one', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'First.' }, { content: 'Second.' }] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one'])

  const refused = await delta(['continue', '-w', workspace.path])
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    `Error: Run is COMPLETED. To continue, provide a message using -m/--message\nExample: delta continue -w ${workspace.path} --run-id one -m "Now do something else"\nIts answer: delta show one --answer -w ${workspace.path}\n`,
  )

  const extended = await delta(['continue', '-w', workspace.path, '-m', 'And now?'])
  expect(extended).toMatchObject({ exitCode: 0, stdout: 'Second.\n' })
  expect(await eventTypes(workspace.path)).toEqual([
    ...['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ENGINE_END'],
    ...['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ENGINE_END'],
  ])
})

test('a question leaves the run waiting with exit code 101, and continue -m answers it', async () => {
  const turns = [
    { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which colour?' } }] },
    { content: 'You like {{last_observation}}.' },
  ]
  await using agent = await temporaryAgent({ turns })
  await using workspace = await temporaryWorkspace({})
  const asked = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(asked.exitCode).toBe(101)
  expect(asked.stderr).toContain('Which colour?')

  const answered = await delta(['continue', '-w', workspace.path, '-m', 'green'])
  expect(answered).toMatchObject({ exitCode: 0, stdout: 'You like green.\n' })
  expect((await workspace.files()).filter((file) => file.includes('interaction'))).toEqual([])
})

test('a run that another process is writing is refused with exit code 6', async () => {
  await using server = await startScriptedServer([{ content: 'Done.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)

  const second = await delta(['continue', '-w', workspace.path], { env: KEY })
  expect(second.exitCode).toBe(6)
  await server.release('thinking')
  expect((await engine.result).exitCode).toBe(0)
})

test('a run that asks somebody else with -i is not answered from outside: what it asks, and where, is said', async () => {
  await using agent = await temporaryAgent({
    turns: [
      { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which one?' } }] },
      { content: '{{last_observation}} it is.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const args = [
    'run',
    '--agent',
    agent.path,
    '-m',
    'Go',
    '-w',
    workspace.path,
    '-i',
    '--format',
    'stream-json',
  ]
  const engine = startDelta(args, { interactive: true })
  await engine.waitForOutput('HUMAN_INPUT_REQUEST')

  const second = await delta(['continue', '-w', workspace.path, '-m', 'blue'])
  expect(second).toMatchObject({ exitCode: 6, stdout: '' })
  expect(second.stderr).toContain('Run is currently executing.')
  const { stderr } = await delta(['show', '-w', workspace.path])
  expect(stderr).toMatch(
    /^It is running, and its last question has no answer yet\. Watch it with: delta show \S+ --follow -w \S+\n$/,
  )

  engine.write('green\n')
  expect(await engine.result).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('green it is.'),
  })
})

test('--retry makes the request that failed again, with nothing before the model, and is refused where it cannot help', async () => {
  await using server = await startScriptedServer([{ before: [{ status: 401 }], content: 'Done.' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const env = { DELTA_API_KEY: 'test-key-not-real' }
  const where = ['-w', workspace.path]
  await delta(['run', '--agent', agent.path, '-m', 'Go', ...where, '--run-id', 'one'], { env })
  const both = await delta(['continue', ...where, '--retry', '-m', 'Go on'], { env })
  expect(both).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --retry and -m cannot be combined: --retry makes the same request again.\n',
  })
  const retried = await delta(['continue', ...where, '--retry'], { env })
  expect(retried).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const [first, again] = server.requests()
  expect(again?.body).toBe(first?.body)
  expect(await delta(['continue', ...where, '--retry'], { env })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining(
      'it is COMPLETED, not FAILED. Continue it without a retry.\nExample: delta ',
    ),
  })
})

test('out of iterations, the line that is printed allows more and goes on; a retry alone is refused', async () => {
  const call = { tool_calls: [{ name: 'say', arguments: {} }] }
  await using agent = await temporaryAgent({
    tools: [{ name: 'say', exec: 'echo hi' }],
    turns: [call, { content: 'Done.' }],
    agent: { max_iterations: 1 },
  })
  await using workspace = await temporaryWorkspace({})
  const failed = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  const [, line = ''] = /^Go on with: delta (.* --retry --max-iterations 2)$/m.exec(failed.stderr) ?? []
  const refused = await delta(['continue', '-w', workspace.path, '--retry'])
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain('it has used 1 of 1 iterations. Raise max_iterations')
  expect(await delta(line.split(' '))).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('once a run of an old layout goes on, LATEST, show and list-runs name the new run', async () => {
  await using agent = await temporaryAgent({ turns: [{ content: 'Done.' }] })
  const line = (seq: number, type: string, payload: object) =>
    `${JSON.stringify({ seq, timestamp: '2025-10-01T12:00:00.000Z', type, payload })}\n`
  const journal = `${line(1, 'RUN_START', { run_id: 'old', task: 'Go', agent_ref: agent.path })}${line(2, 'USER_MESSAGE', { content: 'Go' })}`
  const metadata = JSON.stringify({ agent_name: 'veteran', workspace_id: 'W001' })
  for (const directory of ['.delta/old', '.delta/runs/old/execution']) {
    await using workspace = await temporaryWorkspace({
      [`${directory}/journal.jsonl`]: journal,
      [`${directory}/metadata.json`]: metadata,
      '.delta/LATEST': 'old\n',
    })
    const where = ['-w', workspace.path]
    expect(await delta(['continue', '--trust-run', ...where])).toMatchObject({
      exitCode: 0,
      stdout: 'Done.\n',
    })
    const id = directory === '.delta/old' ? 'old-continued' : 'old'
    expect(await workspace.read('.delta/LATEST')).toBe(`${id}\n`)
    expect((await delta(['show', ...where])).stdout).toContain('Done.\nCOMPLETED after 1 iteration')
    expect((await delta(['list-runs', ...where, '--first'])).stdout).toBe(`${id}\n`)
    expect((await delta(['continue', ...where])).stderr).toContain('Run is COMPLETED') // it is listed where it goes on
    const runs = JSON.parse((await delta(['list-runs', ...where, '--json'])).stdout)
    const names = { agent_name: 'veteran', workspace_id: 'W001', reason_code: 'answered' }
    expect(runs).toContainEqual(expect.objectContaining({ run_id: id, ...names }))
    expect(JSON.parse(await workspace.read(`.delta/${id}/metadata.json`))).toMatchObject(names)
  }
})

test('without LATEST, or with one that names no run, the newest run is continued', async () => {
  await using agent = await temporaryAgent({
    turns: [{ content: 'First.' }, { content: 'Second.' }, { content: 'Third.' }],
  })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await rm(`${workspace.path}/.delta/LATEST`)
  expect((await delta(['continue', '-w', workspace.path, '-m', 'More'])).stdout).toBe('Second.\n')
  await workspace.write('.delta/LATEST', 'no_such_run\n')
  expect((await delta(['continue', '-w', workspace.path, '-m', 'More'])).stdout).toBe('Third.\n')
})

test('a run whose agent was moved goes on with --agent, which its error names, and the journal says where it was', async () => {
  await using moved = await temporaryWorkspace({})
  await using workspace = await temporaryWorkspace({})
  {
    await using agent = await temporaryAgent({ turns: [{ content: 'First.' }, { content: 'Second.' }] })
    await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
    await cp(agent.path, `${moved.path}/agent`, { recursive: true })
  }
  const more = ['continue', '-w', workspace.path, '-m', 'On', '-q']
  const refused = await delta(more)
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    'is not there now.\nPut it back, or say where it is now with --agent <directory>.',
  )
  const result = await delta([...more, '--agent', 'agent'], { cwd: moved.path })
  expect(result).toMatchObject({ exitCode: 0, stdout: 'Second.\n' })
  const starts = (await journalOf(workspace.path)).filter(({ type }) => type === 'ENGINE_START')
  expect(starts.at(-1)).toMatchObject({ agent_home: await realpath(`${moved.path}/agent`), resumed: true })
})

test('an agent that was moved once is found where --agent said: what is printed next works as it stands', async () => {
  await using agents = await temporaryWorkspace({})
  await using workspace = await temporaryWorkspace({})
  const asking = { tool_calls: [{ name: 'ask_human', arguments: { prompt: 'Which?' } }] }
  {
    await using agent = await temporaryAgent({ turns: [asking, asking, { content: 'Done.' }] })
    await cp(agent.path, `${agents.path}/old`, { recursive: true })
  }
  const more = ['continue', '-w', workspace.path, '-m', 'yes']
  await delta(['run', '--agent', `${agents.path}/old`, '-m', 'Go', '-w', workspace.path, '-q'])
  await rename(`${agents.path}/old`, `${agents.path}/new`)
  const moved = await delta([...more, '--agent', `${agents.path}/new`])
  expect(moved.exitCode).toBe(101)
  expect(moved.stderr).toContain('Which?')

  const seen = await delta(['context', 'build', '-w', workspace.path])
  expect(seen).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Which?') })
  const [, words = ''] = /^Answer with: delta (.*) -m "my answer"$/m.exec(moved.stderr) ?? []
  expect(await delta([...words.split(' '), '-m', 'yes'])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a run whose agent is where it first was goes on with that one, whatever --agent said in between', async () => {
  await using agent = await temporaryAgent({
    turns: [{ content: 'One.' }, { content: 'Two.' }, { content: 'Three.' }],
  })
  await using other = await temporaryAgent({
    turns: [{ content: 'A.' }, { content: 'B.' }, { content: 'C.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const more = ['continue', '-w', workspace.path, '-m', 'On', '-q']
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
  expect((await delta([...more, '--agent', other.path])).stdout).toBe('B.\n')
  expect((await delta(more)).stdout).toBe('Three.\n')
})

test('whoever stops a run and corrects it is heard first: calls that had not begun are not made, and none is made again', async () => {
  await using agent = await temporaryAgent({
    tools: [
      { name: 'slow', shell: 'echo x >> slow.txt; exec sleep 300', on_interrupt: 'rerun' },
      { name: 'danger', exec: 'touch danger.txt' },
    ],
    turns: [
      {
        tool_calls: [
          { name: 'slow', arguments: {} },
          { name: 'danger', arguments: {} },
        ],
      },
      { content: 'I stopped.' },
    ],
  })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  await waitForFile(`${workspace.path}/slow.txt`)
  engine.kill('SIGKILL')
  await engine.result
  const result = await delta(['continue', '-w', workspace.path, '-m', 'Stop! Do not run danger.'])
  expect(result).toMatchObject({ exitCode: 0, stdout: 'I stopped.\n' })
  expect(workspace.has('danger.txt')).toBe(false)
  expect(await workspace.read('slow.txt')).toBe('x\n')
  const results = (await journalOf(workspace.path)).filter((event) => event.type === 'ACTION_RESULT')
  expect(results).toMatchObject([
    { status: 'INTERRUPTED' },
    { status: 'BLOCKED', observation_content: expect.stringContaining('the user said something') },
  ])
})
