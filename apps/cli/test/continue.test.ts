import { cp, rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isAlive, temporaryWorkspace, waitForExit, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, KEY, killOnce, scene, served, startDelta } from './delta.js'

test('after kill -9 in a tool and in a journal line, continue ends what is left, runs nothing twice and says so', async () => {
  const work = { name: 'work', shell: 'echo $$ >> pid.txt; exec sleep 300' }
  const { start, at, events, server, workspace } = await served([calls('work'), { content: 'The end.' }], {
    tools: [work],
  })
  const pid = Number(await killOnce(start('--run-id', 'one'), join(workspace.path, 'pid.txt')))
  expect(isAlive(pid)).toBe(true)
  const journal = '.delta/one/journal.jsonl'
  await workspace.write(journal, `${await workspace.read(journal)}{"seq":99,"type":"ACTION_RES`)

  const result = await at('continue')
  expect(result).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
  expect(result.stderr).toContain('journal.torn-')
  expect(result.stderr).toContain('\nnote: The command of "work" was still running, and has been ended.\n')
  // the result stands under its command, though that was shown by the engine before
  expect(result.stderr).toMatch(/\n {3}work \$ sh -c 'echo .* sleep 300'.*\n {5}\[interrupted: /)
  await waitForExit(pid)
  expect(await workspace.read('pid.txt')).toBe(`${pid}\n`)
  const all = await events()
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
  expect(await events('ACTION_RESULT')).toMatchObject([
    {
      status: 'INTERRUPTED',
      observation_content: expect.stringContaining('It was still running and has been ended.'),
    },
  ])
  expect(server.requests().map(({ outcome }) => outcome)).toEqual(['answer', 'answer'])
})

test('a command that ended together with its engine is not called still running', async () => {
  const { run, at } = await scene(
    {
      tools: [{ name: 'die', shell: 'kill -9 $PPID\necho gone' }],
      turns: [calls('die'), { content: 'Done.' }],
    },
    { isProcess: true },
  )
  await run()
  const { stderr } = await at('continue')
  expect(stderr).toMatch(
    /^resuming .*\n(?:note: .*\n)* {3}die \$ sh -c 'kill -9 \$PPID\necho gone' --\n {5}\[interrupted/,
  )
})

test('continue ends a generator that outlived its engine before it runs again', async () => {
  const script = "[ -e slow.pid ] && exec echo quick; sh -c 'echo $$ > slow.pid; exec sleep 300'"
  const generated = {
    type: 'computed_file',
    generator: { command: ['sh', '-c', script] },
    output_path: 'm.txt',
  }
  const { start, at, workspace } = await scene({
    files: { 'context.yaml': JSON.stringify({ sources: [generated, { type: 'journal' }] }) },
  })
  const engine = start('--run-id', 'one')
  await waitForFile(join(workspace.path, '.delta/one/io/generator.json'), (text) => text.endsWith('\n'))
  const slow = Number(await killOnce(engine, join(workspace.path, 'slow.pid')))
  expect(isAlive(slow)).toBe(true)
  const { stdout, stderr } = await at('continue')
  expect(stdout).toBe('Done.\n')
  expect(stderr).toContain('note: A generator was still running, and has been ended.\n')
  await waitForExit(slow)
})

test('Ctrl+C ends the tool and leaves the run INTERRUPTED with 130; -q, too, prints the line that resumes it', async () => {
  const { start, events, workspace } = await scene({
    tools: [{ name: 'work', shell: 'echo $$ > pid.txt; exec sleep 300' }],
    turns: [calls('work'), { content: 'The end.' }],
  })
  const engine = start('--run-id', 'one', '-q')
  const pid = await waitForFile(join(workspace.path, 'pid.txt'), (text) => text.endsWith('\n'))
  engine.kill('SIGINT')
  const { exitCode, stderr } = await engine.result
  const resume = `delta continue -w ${workspace.path} --run-id one`
  expect({ exitCode, stderr }).toEqual({
    exitCode: 130,
    stderr: `SIGINT: stopping; once more to stop at once.\nInterrupted (SIGINT).\nGo on with: ${resume}\n`,
  })
  expect(isAlive(Number(pid))).toBe(false)
  expect((await events()).at(-1)).toMatchObject({ type: 'ENGINE_END', status: 'INTERRUPTED' })
  expect(await delta(resume.split(' ').slice(1))).toMatchObject({ exitCode: 0, stdout: 'The end.\n' })
})

test('while an engine writes a run, it is refused with 6 and unchanged; its task starts another run, and --force takes it', async () => {
  const { start, run, at, server, workspace } = await served([{ content: 'Done.', hold: 'thinking' }])
  const engine = start('--run-id', 'one')
  await server.waitForRequests(1)
  const before = await workspace.read('.delta/one/journal.jsonl')
  const take = `delta continue -w ${workspace.path} --run-id one --force`
  const said = `Error: Run is currently executing. Wait for completion or interrupt first.
${workspace.path}/.delta/one: process ${engine.pid} on ${hostname()} is writing this run. Nothing was changed.
To take the run from it: ${take}
`
  const say = `To say it to the run while it works: delta say one -w ${workspace.path} -m …\n`
  expect(await at('continue', '-m', 'Me too')).toMatchObject({ exitCode: 6, stdout: '', stderr: said + say })
  expect(await at('continue')).toMatchObject({ exitCode: 6, stderr: said })
  expect(await run('--run-id', 'one')).toMatchObject({ exitCode: 6, stdout: '', stderr: said })
  expect(await workspace.read('.delta/one/journal.jsonl')).toBe(before)

  const beside = start()
  await server.waitForRequests(2)
  const taker = startDelta(take.split(' ').slice(1), { env: KEY })
  await engine.result
  await server.release('thinking')
  for (const { result } of [beside, taker])
    expect(await result).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('--retry makes the request that failed again, byte for byte, and is refused where it cannot help', async () => {
  const { run, at, server, workspace } = await served([
    { before: [{ status: 401 }, { status: 401 }], content: 'Done.' },
  ])
  await run('--run-id', 'one')
  const resume = `delta continue -w ${workspace.path} --run-id one`
  expect(await at('continue')).toMatchObject({
    exitCode: 2,
    stderr: `Error: Run is FAILED. To continue, provide a message using -m/--message\nExample: ${resume} -m "Now do something else"\nOnce that is fixed, retry with: ${resume} --retry\n`,
  })
  expect(await at('continue', '--retry', '-m', 'On')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --retry and -m cannot be combined: --retry makes the same request again.\n',
  })
  expect((await at('continue', '--retry')).exitCode).toBe(1)
  expect(await at('continue', '--retry')).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const bodies = server.requests().map(({ body }) => body)
  expect(bodies).toEqual(Array(3).fill(bodies[0]))
  expect((await at('continue', '--retry')).stderr).toContain('it is COMPLETED, not FAILED.')
})

test('without LATEST, or with one that names no run, the newest run is continued', async () => {
  const { run, at, workspace } = await scene({
    turns: [{ content: 'First.' }, { content: 'Second.' }, { content: 'Third.' }],
  })
  await run()
  await rm(join(workspace.path, '.delta/LATEST'))
  expect((await at('continue', '-m', 'More')).stdout).toBe('Second.\n')
  await workspace.write('.delta/LATEST', 'no_such_run\n')
  expect((await at('continue', '-m', 'More')).stdout).toBe('Third.\n')
})

test('the agent of a run that was moved is named once with --agent; from then on it is found there', async () => {
  const ask = calls('ask_human', { prompt: 'Which?' })
  const { agent, workspace, at } = await scene({ turns: [ask, ask, { content: 'Done.' }] })
  const agents = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await cp(agent.path, join(agents.path, 'old'), { recursive: true })
  await at('run', '--agent', join(agents.path, 'old'), '-q')
  await rename(join(agents.path, 'old'), join(agents.path, 'new'))
  const gone = await at('continue', '-m', 'yes')
  expect(gone.exitCode).toBe(2)
  expect(gone.stderr).toContain(
    'is not there now.\nPut it back, or say where it is now with --agent <directory>.',
  )

  const moved = await delta(['continue', '-w', workspace.path, '-m', 'yes', '--agent', 'new'], {
    cwd: agents.path,
  })
  expect(moved.exitCode).toBe(101)
  expect(await at('context build')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Which?') })
  const [, words = ''] = /^Answer with: delta (.*) -m "my answer"$/m.exec(moved.stderr) ?? []
  expect(await delta([...words.split(' '), '-m', 'yes'])).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
})

test('a correction after kill -9 is read first: calls that had not begun are not made, and none is made again', async () => {
  const both = [
    { name: 'slow', arguments: {} },
    { name: 'danger', arguments: {} },
  ]
  const { start, at, events, workspace } = await scene({
    tools: [
      { name: 'slow', shell: 'echo x >> slow.txt; exec sleep 300', on_interrupt: 'rerun' },
      { name: 'danger', exec: 'touch danger.txt' },
    ],
    turns: [{ tool_calls: both }, { content: 'I stopped.' }],
  })
  await killOnce(start(), join(workspace.path, 'slow.txt'))
  expect((await at('continue', '-m', 'Stop! Do not run danger.')).stdout).toBe('I stopped.\n')
  expect([workspace.has('danger.txt'), await workspace.read('slow.txt')]).toEqual([false, 'x\n'])
  expect(await events('ACTION_RESULT')).toMatchObject([
    { status: 'INTERRUPTED' },
    { status: 'BLOCKED', observation_content: expect.stringContaining('the user said something') },
  ])
})
