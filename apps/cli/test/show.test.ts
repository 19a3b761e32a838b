import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, delta, killOnce, scene, served, startDelta } from './delta.js'

const SAY = { name: 'say', description: 'Says.', exec: 'echo ${text}' }

test('show --follow watches a run until it is interrupted, and the printed line resumes it', async () => {
  const at = await scene({
    tools: [
      { name: 'work', shell: 'echo begun >> log.txt; test -e again || { echo > again; exec sleep 300; }' },
    ],
    turns: [{ ...calls('work'), content: 'I work.' }, calls('work'), { content: 'Done.' }],
  })
  const engine = at.start('--run-id', 'one')
  await waitForFile(join(at.workspace.path, 'again'))
  const watch = `delta show one --follow -w ${at.workspace.path}`
  expect((await at.at('show')).stderr).toBe(`It is running. Watch it with: ${watch}\n`)
  const watcher = startDelta(watch.split(' ').slice(1))
  await watcher.waitForOutput('   work $ sh -c')
  engine.kill('SIGINT')
  await engine.result
  const { stdout, stderr } = await watcher.result
  expect(stdout).toMatch(/\n> Go\n1\. I work\.\n(.*\n)*INTERRUPTED \(SIGINT\) after 1 iteration\n$/)
  const resume = `delta continue -w ${at.workspace.path} --run-id one`
  expect(stderr).toBe(`Go on with: ${resume}\n`)
  expect(await delta(resume.split(' ').slice(1))).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  expect(await at.workspace.read('log.txt')).toBe('begun\nbegun\n')
})

test('show says of a run that was killed that no process writes it; --follow watches until it was resumed', async () => {
  const at = await scene({
    tools: [{ name: 'work', shell: 'echo $$ > pid; exec sleep 300' }],
    turns: [calls('work'), { content: 'Done.' }],
  })
  const engine = at.start('--run-id', 'one', '-q')
  await waitForFile(join(at.workspace.path, 'pid'))
  const watcher = startDelta(at.words('show', '--follow'))
  await watcher.waitForOutput('sleep 300')
  await killOnce(engine, join(at.workspace.path, 'pid'))
  const gone = `It was interrupted: no process is writing it.\nGo on with: delta continue -w ${at.workspace.path} --run-id one\n`
  await watcher.waitForOutput(gone, { stream: 'stderr' })
  expect((await at.at('show')).stderr).toBe(gone)
  await at.at('continue', '-q') // ends the command, too
  const { stdout, stderr, exitCode } = await watcher.result
  expect({ stderr, exitCode }).toEqual({ stderr: `Still watching; Ctrl+C ends that.\n${gone}`, exitCode: 0 })
  expect(stdout).toMatch(/\nresuming one .*\n(.*\n)*2\. Done\.\nCOMPLETED after 2 iterations\n$/)
})

test('show --follow waits for a run that has not begun yet', async () => {
  const { run, words, workspace } = await scene()
  await mkdir(join(workspace.path, '.delta/one/io'), { recursive: true })
  const watcher = startDelta(words('show', 'one', '--follow'))
  const waits = 'Still watching; Ctrl+C ends that.\nIt has not started yet.\n'
  await watcher.waitForOutput(waits, { stream: 'stderr' })
  await run('--run-id', 'one', '-q')
  expect((await watcher.result).stdout).toMatch(/\n> Go\n1\. Done\.\nCOMPLETED after 1 iteration\n$/)
})

test('show --follow says that the journal was deleted while it watched', async () => {
  const { start, words, server, workspace } = await served([{ content: 'The end.', hold: 'thinking' }])
  const engine = start('--run-id', 'gone')
  await server.waitForRequests(1)
  const followers = [[], ['--json']].map((format) => startDelta(words('show', '--follow', ...format)))
  for (const follower of followers) await follower.waitForOutput('Go')
  await rm(join(workspace.path, '.delta/gone/journal.jsonl'))
  await server.release('thinking')
  expect((await engine.result).exitCode).toBe(1)
  for (const follower of followers)
    expect(await follower.result).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('The journal of this run is gone, or empty, though the run had begun'),
    })
})

test('a call is shown by what runs in its sandbox, and by its name where an old journal has no command', async () => {
  const timestamp = '2025-10-13T14:35:22.123Z'
  const call = { timestamp, iteration: 1, tool_name: 'list_files' }
  const lines = [
    { type: 'ENGINE_START', timestamp, run_id: 'old', agent_home: '/gone', work_dir: '/gone', config: {} },
    { type: 'THOUGHT', timestamp, iteration: 1, content: 'I look.' },
    { type: 'ACTION_REQUEST', ...call, tool_args: { directory: '.' } },
    { type: 'ACTION_RESULT', ...call, observation_content: 'file1.txt', exit_code: 0 },
    {
      type: 'ACTION_REQUEST',
      ...call,
      argv: ['jail', '--', 'ls', 'a b'],
      resolved_command: "jail -- ls 'a b'",
      sandbox: { with: 'jail', argv: ['ls', 'a b'] },
    },
  ]
  const journal = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { at } = await scene({}, { files: { '.delta/old/journal.jsonl': journal } })
  expect((await at('show')).stdout).toContain(
    `   list_files {"directory":"."}\n     file1.txt\n     exit 0\n   list_files $ ls 'a b' (jail)\n`,
  )
})

test('show --step says how long its request took, not the run before it', async () => {
  const at = (second: number) => ({ timestamp: `2025-10-13T14:35:0${second}.000Z` })
  const result = { action_id: 'a', tool_name: 'look', status: 'SUCCESS', exit_code: 0 }
  const lines = [
    { type: 'ENGINE_START', ...at(0), run_id: 'old', agent_home: '/gone', work_dir: '/gone', config: {} },
    { type: 'THOUGHT', ...at(1), iteration: 1, content: 'I look.' },
    { type: 'ACTION_RESULT', ...at(7), iteration: 1, ...result, observation_content: 'file1.txt' },
    { type: 'THOUGHT', ...at(9), iteration: 2, content: 'One file.' },
  ]
  const journal = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const { at: within } = await scene({}, { files: { '.delta/old/journal.jsonl': journal } })
  expect((await within('show', '--step', '2')).stdout).toContain('2. One file. (2 s)')
})

test('show --request prints the body that was sent, byte for byte', async () => {
  const said = calls('say', { text: 'ü "quoted" \u2028' })
  const { run, at, server } = await served([{ ...said, times: 11 }, { content: 'Done.' }], {
    tools: [SAY],
  })
  await run('-q', '--no-sync')
  for (const number of [1, 7, 12])
    expect((await at('show', '--request', String(number))).stdout).toBe(server.requests()[number - 1]?.body)
  expect(await at('show', '--request', '99')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --request 99: No request of iteration 99 is recorded. Recorded iterations: 1 to 12.\n',
  })
})

test('show has a line where the model changes', async () => {
  const { run, at } = await served([{ ...calls('say', { text: 'hi' }) }, { content: 'Done.', times: 2 }], {
    tools: [SAY],
  })
  await run('-q')
  await at('continue', '-m', 'Again', '--model', 'other', '-q')
  expect((await at('show')).stdout).toMatch(
    /\n> Again\nmodel: other \(before: scripted\)\n3\. Done\.\nCOMPLETED/,
  )
  expect((await at('show')).stdout.match(/^model: /gm)).toHaveLength(1)
})

test('show --tool and --failed print only those calls, each below its thought, also as journal lines and of one step', async () => {
  const both = [
    { name: 'say', arguments: { text: 'both' } },
    { name: 'fail', arguments: {} },
  ]
  const { run, at, workspace } = await scene({
    tools: [SAY, { name: 'fail', description: 'Fails.', shell: 'echo broken; exit 3' }],
    turns: [
      { ...calls('say', { text: 'hi' }), content: 'One.' },
      { content: 'Two.', tool_calls: both },
      { ...calls('say', { txt: 'x' }), content: 'Three.' },
      { content: 'Done.' },
    ],
  })
  await run('--run-id', 'mixed')
  const show = async (...flags: string[]) => (await at('show', ...flags)).stdout
  expect((await show('--tool', 'fail')).split('\n')).toEqual([
    '2. Two.',
    expect.stringMatching(/^ {3}.*\$ sh -c 'echo broken; exit 3'/),
    '     [exit code 3]',
    '     broken',
    expect.stringMatching(/^ {5}exit 3/),
    '',
  ])
  const said = await show('--tool', 'say')
  expect(said.match(/^\d\. \w+/gm)).toEqual(['1. One', '2. Two', '3. Three'])
  expect(said).not.toMatch(/fail|broken/)
  const failed = await show('--failed')
  expect(failed.match(/^\d\. \w+/gm)).toEqual(['2. Two', '3. Three'])
  expect(failed).not.toContain('both')
  expect(await show('--failed', '--follow')).toBe(failed)
  expect((await show('--failed', '--step', '2')).match(/^\d\. \w+/gm)).toEqual(['2. Two'])
  const events = (await show('--failed', '--tool', 'say', '--json')).trimEnd().split('\n')
  expect(events.map((line) => JSON.parse(line))).toMatchObject(
    ['THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'].map((type) => ({ type, iteration: 3 })),
  )
  expect(await show('--json')).toBe(await workspace.read('.delta/mixed/journal.jsonl'))
  expect((await at('show', '--step', '9')).stderr).toBe('Error: --step 9: run mixed has 4 iterations.\n')
  for (const flags of [
    ['--tool', 'say', '--answer'],
    ['--request', '1', '--follow'],
    ['--answer', '--json'],
  ])
    expect(await at('show', ...flags)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cannot be used with'),
    })
})

test('-w of a command that is not delta may name a file', async () => {
  const { run, at } = await scene(
    { tools: [{ name: 'count', exec: 'wc -w a.txt' }], turns: [calls('count'), { content: 'Two.' }] },
    { files: { 'a.txt': 'one two\n' } },
  )
  await run()
  const shown = await at('show')
  expect(shown).toMatchObject({ exitCode: 0, stderr: '' })
  expect(shown.stdout).toContain('2 a.txt')
})
