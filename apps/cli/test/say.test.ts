import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, delta, served } from './delta.js'

/** Runs until the file `go` is there. */
const WAIT = {
  name: 'wait',
  shell: 'echo x >> waiting.txt; until [ -e go ]; do sleep 0.02; done; echo waited',
}

test('a message said to a running run is in its next request, shown, an intervention, and nothing of it is left', async () => {
  const { server, start, at, workspace, events } = await served(
    [calls('wait'), { content: 'In French.' }, calls('wait'), { content: 'In French.' }],
    { tools: [WAIT] },
  )
  const engine = start()
  await waitForFile(join(workspace.path, 'waiting.txt'), (text) => text.endsWith('\n'))
  const [started] = await events('ENGINE_START')
  const id = String(started?.run_id)
  const said = await at('say', id.slice(-6), '-m', 'Answer\nin French.')
  expect([said.stdout, said.stderr, said.exitCode]).toEqual([
    '',
    `Said to run ${id.slice(-6)}: it reads this next. If it ends before, delta continue does.\n`,
    0,
  ])
  const directory = join(workspace.path, '.delta', id)
  const inbox = join(directory, 'inbox')
  await workspace.write('long.txt', 'x'.repeat(2 ** 20 + 1))
  const long = await at('say', id, '-m', `@${join(workspace.path, 'long.txt')}`)
  renameSync(inbox, `${inbox}-of-run`)
  mkdirSync(join(workspace.path, 'elsewhere'))
  symlinkSync(join(workspace.path, 'elsewhere'), inbox)
  const linked = await at('say', id, '-m', 'Hi')
  rmSync(inbox)
  renameSync(`${inbox}-of-run`, inbox)
  const refused = [
    'Error: Nothing was said. The message is longer than 1 MiB.\n',
    `Error: Nothing was said. ${inbox} is not a directory: a tool may have made it.\n`,
  ]
  expect([long.stderr, linked.stderr]).toEqual(refused)
  expect([long.exitCode, linked.exitCode]).toEqual([2, 2])
  expect(readdirSync(join(workspace.path, 'elsewhere'))).toEqual([])
  await workspace.write('go', '')
  const { exitCode, stderr } = await engine.result
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toContain('> Answer\n  in French.')
  const messages = JSON.parse(server.requests()[1]?.body ?? '').messages
  expect(messages.slice(-2)).toEqual([
    expect.objectContaining({ role: 'tool', content: 'waited\n' }),
    { role: 'user', content: 'Answer\nin French.' },
  ])
  expect(readdirSync(inbox)).toEqual([])
  expect((await events('USER_MESSAGE'))[1]).toMatchObject({
    inbox_id: expect.stringMatching(/^\d{8}T\d{9}_\w{6}$/),
  })
  expect((await at('replay', id)).exitCode).toBe(0)

  expect((await at('run', '--new', '--agent', '.')).exitCode).toBe(2)
  const ended = await at('say', id, '-m', 'More.')
  expect([ended.exitCode, ended.stderr]).toEqual([
    2,
    `Error: Run ${id.slice(-6)} has ended: delta continue -w ${workspace.path} --run-id ${id} -m …\n`,
  ])
  const again = await delta(
    ['run', '--new', '--agent', String(started?.agent_home), '-m', 'Go', '-w', workspace.path],
    {
      env: { DELTA_API_KEY: 'test-key-not-real' },
    },
  )
  expect(again.exitCode, again.stderr).toBe(0)
  const diff = await at('diff', id, String((await events('ENGINE_START'))[0]?.run_id), '--json')
  expect(JSON.parse(diff.stdout).first).toMatchObject({ cause: 'intervention', where: 'USER_MESSAGE' })
})

test('nobody speaks to a run from within one, to a cell of an evaluation, to a run that waits, or to none', async () => {
  const ask = calls('ask_human', { prompt: 'Deploy?' })
  const { run, at, workspace, events } = await served([ask], { agent: { ask_human: true } })
  const outside = await delta(['say', 'x', '-m', 'Hi'], { env: { DELTA_RUN_ID: 'r' } })
  expect([outside.exitCode, outside.stderr]).toEqual([
    2,
    'Error: delta say: not from within a run. A tool speaks to its run by what it prints.\n',
  ])
  await run()
  const id = String((await events('ENGINE_START'))[0]?.run_id)
  const waiting = await at('say', id, '-m', 'Hi')
  expect([waiting.exitCode, waiting.stderr]).toEqual([
    2,
    `Error: Run ${id.slice(-6)} waits for an answer to "Deploy?": delta continue -w ${workspace.path} --run-id ${id} -i\n`,
  ])
  expect(existsSync(join(workspace.path, '.delta', id, 'inbox'))).toBe(false)
  const unknown = await at('say', 'abc', '-m', 'Hi')
  expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('No run abc in ')])
  expect((await at('say', id)).exitCode).toBe(2)

  const cell = join(workspace.path, 'x.eval/cells/c1')
  const runs = join(cell, '1/runs')
  mkdirSync(runs, { recursive: true })
  writeFileSync(join(cell, 'cell.json'), '{}')
  await workspace.write(
    `x.eval/cells/c1/1/runs/c1-1/journal.jsonl`,
    await workspace.read(`.delta/${id}/journal.jsonl`),
  )
  const ofCell = await delta(['say', join(runs, 'c1-1'), '-m', 'Hi'])
  expect([ofCell.exitCode, ofCell.stderr]).toEqual([
    2,
    expect.stringMatching(
      /^Error: Run \S+ belongs to an evaluation; a word would change the experiment\.\n$/,
    ),
  ])
  const planned = { cell: 'c1', variant: 'v', task: 't', repeat: 1, seed: 1 }
  rmSync(join(cell, 'cell.json'))
  await workspace.write('x.eval/manifest.jsonl', `${JSON.stringify(planned)}\n`)
  expect(await delta(['say', join(runs, 'c1-1'), '-m', 'Hi'])).toMatchObject({
    exitCode: 2,
    stderr: ofCell.stderr,
  })
})

test('the end of a run says what was said too late, and the command that it names lets the run read it', async () => {
  const hear = {
    name: 'hear',
    shell: 'mkdir -p "$DELTA_RUN_DIR/inbox" && printf Slower. > "$DELTA_RUN_DIR/inbox/m1"',
  }
  const { run, at, workspace, events } = await served([calls('hear'), { content: 'Slowly.' }], {
    tools: [hear],
    agent: { max_iterations: 1 },
  })
  const { exitCode, stderr } = await run('--run-id', 'one')
  expect(exitCode).toBe(1)
  const late = `What was said to it too late waits. To let it read that: delta continue -w ${workspace.path} --run-id one`
  expect(stderr.split('\n').at(-2)).toBe(late)
  const again = await at('continue', '--run-id', 'one')
  expect(again).toMatchObject({ exitCode: 0, stdout: 'Slowly.\n' })
  expect(again.stderr).not.toContain('too late')
  expect((await events('USER_MESSAGE'))[1]).toMatchObject({ content: 'Slower.' })
})
