import { mkdir, rm, writeFile } from 'node:fs/promises'
import {
  startProcess,
  startScriptedServer,
  temporaryAgent,
  temporaryWorkspace,
  waitForFile,
} from '@delta/testkit'
import { expect, test } from 'vitest'
import { DELTA, delta, ownRun, startDelta } from './delta.js'
import { SAY, twoRuns } from './two-runs.js'

const KEY = { DELTA_API_KEY: 'test-key-not-real' }

test('show prints the latest run as a transcript, or the one that is named', async () => {
  await using workspace = await twoRuns()
  const latest = await delta(['show', '-w', workspace.path])
  expect(latest.stdout).toContain('   ask_human ? Which?\n')
  const { stdout } = await delta(['show', 'done', '-w', workspace.path])
  expect(stdout.split('\n').slice(1)).toEqual([
    '> Task done',
    '1. I say it.',
    '   say $ echo hi',
    '     hi',
    expect.stringMatching(/^ {5}exit 0, \d+ ms$/),
    '2. Said.',
    'COMPLETED after 2 iterations',
    '',
  ])
})

test('an answer that was lost is printed again by show --answer, byte for byte; of a run without one, stderr says how it goes on to it', async () => {
  await using workspace = await twoRuns()
  await using agent = await temporaryAgent({ turns: [{ content: 'Grüße,\n\u001b[1m\n\n' }] })
  const run = [process.execPath, DELTA, 'run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go']
  const lost = await startProcess([
    'sh',
    '-c',
    'exec "$@" > /dev/full',
    '-',
    ...run,
    '--run-id',
    'lost',
    '-q',
  ]).result
  expect(lost).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('could not be written') })
  const show = (...args: string[]) => delta(['show', '-w', workspace.path, '--answer', ...args])
  const command = `delta show lost --answer -w ${workspace.path}`
  expect((await delta(['continue', '-w', workspace.path])).stderr).toContain(`\nIts answer: ${command}\n`)
  expect(await show()).toEqual({
    exitCode: 0,
    signal: null,
    stdout: 'Grüße,\n\u001b[1m\n\n',
    stderr: '',
  })
  const another = ['continue', '-w', workspace.path, '--run-id', 'done', '--agent', agent.path]
  expect((await delta(another)).stderr).toContain(
    `\nIts answer: delta show done --answer -w ${workspace.path}\n`,
  )
  expect(await show('done')).toMatchObject({ exitCode: 0, stdout: 'Said.\n' })
  expect(await show('asks')).toMatchObject({
    exitCode: 1,
    stdout: '',
    stderr: `Run asks has no answer: it is WAITING_FOR_INPUT.\nAnswer with: delta continue -w ${workspace.path} --run-id asks -m "my answer"\n-i in place of -m asks here. Or put it into interaction/response.txt in the directory of the run, and leave out both.\n`,
  })
  expect(await show('done', '--follow')).toMatchObject({ exitCode: 2 })
})

test('of a run that v1.1 kept in .delta/runs, show names the workspace that continue takes', async () => {
  const timestamp = '2025-08-01T12:00:00.000Z'
  const lines = [
    { seq: 1, timestamp, type: 'RUN_START', payload: { run_id: 'old', task: 'Go', agent_ref: '/gone' } },
    { seq: 2, timestamp, type: 'THOUGHT', payload: { content: 'I look.', tool_calls: [] } },
  ]
  const journal = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  await using workspace = await temporaryWorkspace({ '.delta/runs/old/execution/journal.jsonl': journal })
  await ownRun(`${workspace.path}/.delta/runs/old`)
  const { stderr } = await delta(['show', '-w', workspace.path])
  expect(stderr).toContain(`Go on with: delta continue -w ${workspace.path} --run-id old\n`)
})

test('a call whose command an old journal does not have is shown by its name, and not as a refused one', async () => {
  const timestamp = '2025-10-13T14:35:22.123Z'
  const call = { timestamp, iteration: 1, tool_name: 'list_files' }
  const lines = [
    { type: 'ENGINE_START', timestamp, run_id: 'old', agent_home: '/gone', work_dir: '/gone', config: {} },
    { type: 'THOUGHT', timestamp, iteration: 1, content: 'I look.' },
    { type: 'ACTION_REQUEST', ...call, tool_args: { directory: '.' } },
    { type: 'ACTION_RESULT', ...call, observation_content: 'file1.txt', exit_code: 0 },
  ]
  const journal = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  await using workspace = await temporaryWorkspace({ '.delta/old/journal.jsonl': journal })
  const { stdout } = await delta(['show', '-w', workspace.path])
  expect(stdout).toContain('   list_files {"directory":"."}\n     file1.txt\n     exit 0\n')
})

test('show ends with what can be typed next: an answer, going on, trying again, watching; nothing for a run that is done', async () => {
  await using workspace = await twoRuns()
  const goOn = (id: string) => `delta continue -w ${workspace.path} --run-id ${id}`
  const said = async (...args: string[]) => (await delta(['show', '-w', workspace.path, ...args])).stderr
  expect(await said()).toMatch(/^Answer with: .*\n-i in place of -m asks here\. .*\n$/)
  expect(await said()).toContain(`Answer with: ${goOn('asks')} -m "my answer"\n`)
  expect(await said('--follow')).toBe(await said())
  expect(await said('--json')).toBe('')
  expect(await said('--step', '1')).toBe('')
  expect(await said('done')).toBe('')

  await using work = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo $PPID > pid; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }],
  })
  const args = ['run', '--agent', work.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'works', '-q']
  const engine = startDelta(args)
  await waitForFile(`${workspace.path}/pid`)
  const watch = `delta show works --follow -w ${workspace.path}`
  expect(await said('works')).toBe(`It is running. Watch it with: ${watch}\n`)
  engine.kill('SIGTERM')
  await engine.result
  expect(await said('works')).toBe(`Go on with: ${goOn('works')}\n`)
  await delta(['continue', '-w', workspace.path, '--run-id', 'works', '-q'])
  expect(await said('works')).toBe(`Once that is fixed, retry with: ${goOn('works')} --retry\n`)
})

test('show says of a run that was killed that nobody writes it any more; --follow watches until somebody has gone on with it', async () => {
  await using agent = await temporaryAgent({
    tools: [{ name: 'work', shell: 'echo $$ > pid; exec sleep 300' }],
    turns: [{ tool_calls: [{ name: 'work', arguments: {} }] }, { content: 'Done.' }],
  })
  await using workspace = await temporaryWorkspace({})
  const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q']
  const engine = startDelta(args)
  await waitForFile(`${workspace.path}/pid`)
  const watcher = startDelta(['show', '-w', workspace.path, '--follow'])
  await watcher.waitForOutput('sleep 300')
  engine.kill('SIGKILL')
  await engine.result
  const goOn = `delta continue -w ${workspace.path} --run-id one`
  const gone = `It was interrupted: no process is writing it.\nGo on with: ${goOn}\n`
  await watcher.waitForOutput(gone, { stream: 'stderr' })
  expect((await delta(['show', '-w', workspace.path])).stderr).toBe(gone)
  await delta(['continue', '-w', workspace.path, '-q']) // ends the command, too
  const { stdout, stderr, exitCode } = await watcher.result
  expect({ stderr, exitCode }).toEqual({ stderr: `Still watching; Ctrl+C ends that.\n${gone}`, exitCode: 0 })
  expect(stdout).toMatch(/\nresuming one .*\n(.*\n)*2\. Done\.\nCOMPLETED after 2 iterations\n$/)
})

test('show --follow does not wait for more of a run of an old layout, which goes on in another directory', async () => {
  await using workspace = await temporaryWorkspace({})
  const execution = `${workspace.path}/.delta/runs/old/execution`
  await mkdir(execution, { recursive: true })
  const timestamp = '2025-10-01T12:00:00.000Z'
  const events = [
    { seq: 1, timestamp, type: 'RUN_START', payload: { run_id: 'old', task: 'look' } },
    { seq: 2, timestamp, type: 'USER_MESSAGE', payload: { content: 'look' } },
  ]
  const lines = events.map((event) => `${JSON.stringify(event)}\n`)
  await writeFile(`${execution}/journal.jsonl`, lines.join(''))
  await ownRun(`${workspace.path}/.delta/runs/old`)
  const { stderr, exitCode } = await delta(['show', '-w', workspace.path, '--follow'])
  const goOn = `delta continue -w ${workspace.path} --run-id old`
  const gone = `It was interrupted: no process is writing it.\nGo on with: ${goOn}\n`
  expect({ stderr, exitCode }).toEqual({ stderr: gone, exitCode: 0 })
})

test('show --follow waits for a run that has not begun yet', async () => {
  await using agent = await temporaryAgent({})
  await using workspace = await temporaryWorkspace({})
  await mkdir(`${workspace.path}/.delta/one/io`, { recursive: true })
  const watcher = startDelta(['show', 'one', '-w', workspace.path, '--follow'])
  await watcher.waitForOutput('Still watching; Ctrl+C ends that.\nIt has not begun yet.\n', {
    stream: 'stderr',
  })
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'one', '-q'])
  expect((await watcher.result).stdout).toMatch(/\n> Go\n1\. Done\.\nCOMPLETED after 1 iteration\n$/)
})

test('show says of a secret, a yes or no and a command how each is answered', async () => {
  const tools = [{ name: 'make', exec: 'touch made', effects: { destructive: true } }]
  const ask = (more: object) => ({ name: 'ask_human', arguments: { prompt: 'Well?', ...more } })
  const cases = [
    [ask({ input_type: 'password' }), /^Answer unseen with: delta continue .* -i\n-m - /],
    [ask({ input_type: 'confirmation' }), / -m yes {3}\(or: -m no\)\n/],
    [
      { name: 'make', arguments: {} },
      /^Allow it with: delta .* --approve \S+\nTo refuse it, write --deny in place of --approve\.\n$/,
    ],
  ] as const
  for (const [call, way] of cases) {
    await using agent = await temporaryAgent({
      agent: { policy: { on_confirmation: 'ask_human' } },
      tools,
      turns: [{ tool_calls: [call] }],
    })
    await using workspace = await temporaryWorkspace({})
    await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'])
    expect((await delta(['show', '-w', workspace.path])).stderr).toMatch(way)
  }
})

test('show --step prints one iteration and what the model saw before it', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['show', 'done', '--step', '2', '-w', workspace.path])
  expect(stdout).toContain('The model saw (--request 2 prints all of it):\n   system_prompt: 1 message')
  expect(stdout).toMatch(/^2\. Said\.$/m)
  expect(stdout).not.toContain('I say it.')

  const beyond = await delta(['show', 'done', '--step', '3', '-w', workspace.path])
  expect(beyond).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --step 3: run done has 2 iterations.\n',
  })
})

test.each([
  ['--step', '1', '--follow'],
  ['--request', '1', '--follow'],
  ['--step', '1', '--request', '1'],
  ['--answer', '--json'],
])('show refuses %s %s %s: each says what is to be shown', async (...flags) => {
  await using workspace = await twoRuns()
  const result = await delta(['show', 'done', '-w', workspace.path, ...flags])
  expect(result).toMatchObject({ exitCode: 2, stdout: '' })
  expect(result.stderr).toMatch(/^Error: option '--\S+.*' cannot be used with option '--\S+.*'\n/)
})

test('show --request of an iteration that is not there names those that are', async () => {
  await using workspace = await twoRuns()
  const beyond = await delta(['show', 'done', '--request', '99', '-w', workspace.path])
  expect(beyond).toMatchObject({ exitCode: 2, stdout: '' })
  expect(beyond.stderr).toBe(
    'Error: --request 99: No request of iteration 99 is recorded. Recorded iterations: 1 to 2.\n',
  )
})

test('show --request prints the body that was sent, byte for byte', async () => {
  await using server = await startScriptedServer([
    { content: null, tool_calls: [{ name: 'say', arguments: { text: 'ü "quoted" \u2028' } }] },
    { content: 'Done.' },
  ])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl, tools: [SAY] })
  await using workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '-q'], { env: KEY })
  for (const [index, request] of server.requests().entries()) {
    const shown = await delta(['show', '--request', String(index + 1), '-w', workspace.path])
    expect(shown.stdout).toBe(request.body)
  }
  const missing = await delta(['show', '--request', '9', '-w', workspace.path])
  expect(missing).toMatchObject({ exitCode: 2, stdout: '' })
})

test('show --follow prints what comes until the run ends', async () => {
  await using server = await startScriptedServer([{ content: 'The end.', hold: 'thinking' }])
  await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
  await using workspace = await temporaryWorkspace({})
  const engine = startDelta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path], { env: KEY })
  await server.waitForRequests(1)
  const follower = startDelta(['show', '--follow', '-w', workspace.path])
  await follower.waitForOutput('> Go\n')
  await server.release('thinking')
  const { stdout, exitCode } = await follower.result
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/1\. The end\.\nCOMPLETED after 1 iteration.*\n$/)
  await engine.result
})

test.each([[[]], [['--json']]])(
  'show --follow %s says that the journal was deleted while it watched',
  async (format) => {
    await using server = await startScriptedServer([{ content: 'The end.', hold: 'thinking' }])
    await using agent = await temporaryAgent({ baseUrl: server.baseUrl })
    await using workspace = await temporaryWorkspace({})
    const args = ['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path, '--run-id', 'gone']
    const engine = startDelta(args, { env: KEY })
    await server.waitForRequests(1)
    const follower = startDelta(['show', '--follow', '-w', workspace.path, ...format])
    await follower.waitForOutput('Go')
    await rm(`${workspace.path}/.delta/gone/journal.jsonl`)
    await server.release('thinking')
    expect((await engine.result).exitCode).toBe(1)
    expect(await follower.result).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The journal of this run is gone, or empty, though the run had begun'),
    })
  },
)

test('show --json prints the journal lines as they are', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['show', 'done', '--json', '-w', workspace.path])
  expect(stdout).toBe(await workspace.read('.delta/done/journal.jsonl'))
})

/** Says, fails, is refused, and says again; its second thought makes two calls. */
async function mixed() {
  const agent = await temporaryAgent({
    tools: [SAY, { name: 'fail', description: 'Fails.', shell: 'echo broken; exit 3' }],
    turns: [
      { content: 'One.', tool_calls: [{ name: 'say', arguments: { text: 'hi' } }] },
      {
        content: 'Two.',
        tool_calls: [
          { name: 'say', arguments: { text: 'both' } },
          { name: 'fail', arguments: {} },
        ],
      },
      { content: 'Three.', tool_calls: [{ name: 'say', arguments: { txt: 'x' } }] },
      { content: 'Done.' },
    ],
  })
  const workspace = await temporaryWorkspace({})
  await delta(['run', '--agent', agent.path, '-w', workspace.path, '-m', 'Go', '--run-id', 'mixed'])
  const show = (...args: string[]) => delta(['show', '-w', workspace.path, ...args])
  const dispose = async () => void (await Promise.all([agent.remove(), workspace.remove()]))
  return { show, [Symbol.asyncDispose]: dispose }
}

/** The numbers of iterations and the commands. */
function told(stdout: string): string[] {
  return stdout
    .split('\n')
    .flatMap((line) => /^\d+\. \w+|^ {3}(?:\w+ )?\$ .*|(?<=^ {5})exit \d/.exec(line)?.[0] ?? [])
}

test('show --tool prints only the calls of one tool, each below the thought that made it', async () => {
  await using run = await mixed()
  const { stdout } = await run.show('--tool', 'fail')
  expect(stdout.split('\n')).toEqual([
    '2. Two.',
    expect.stringMatching(/^ {3}.*\$ sh -c 'echo broken; exit 3'/),
    '     [exit code 3]',
    '     broken',
    expect.stringMatching(/^ {5}exit 3/),
    '',
  ])
  const said = told((await run.show('--tool', 'say')).stdout)
  expect(said.filter((line) => /^\d/.test(line))).toEqual(['1. One', '2. Two', '3. Three'])
  expect(said.filter((line) => line.includes('fail') || line.includes('broken'))).toEqual([])
})

test('show --failed prints only what did not succeed, refused calls too, also as journal lines and of one step', async () => {
  await using run = await mixed()
  const { stdout } = await run.show('--failed')
  expect(told(stdout).filter((line) => /^\d/.test(line))).toEqual(['2. Two', '3. Three'])
  expect(stdout).not.toContain('both')
  expect((await run.show('--failed', '--follow')).stdout).toBe(stdout)
  const events = (await run.show('--failed', '--tool', 'say', '--json')).stdout.trimEnd().split('\n')
  expect(events.map((line) => JSON.parse(line).type)).toEqual(['THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'])
  expect(events.map((line) => JSON.parse(line).iteration)).toEqual([3, 3, 3])
  expect(told((await run.show('--failed', '--step', '2')).stdout)).toHaveLength(3)
})

test('show --tool of a tool that was not called names the ones that were, and --failed says when nothing failed', async () => {
  await using run = await mixed()
  expect(await run.show('--tool', 'fial')).toMatchObject({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining(
      'Error: --tool fial: run mixed did not call this tool. It called: say, fail.\n',
    ),
  })
  for (const flags of [
    ['--tool', 'say', '--answer'],
    ['--failed', '--request', '1'],
  ])
    expect(await run.show(...flags)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be used with'),
    })
  await using workspace = await twoRuns()
  const none = await delta(['show', 'done', '-w', workspace.path, '--failed'])
  expect(none).toMatchObject({ exitCode: 0, stdout: '', stderr: 'No call of run done has failed.\n' })
})
