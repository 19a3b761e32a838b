import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import { calls, cleanEnvironment, DELTA, delta, scene, served } from './delta.js'

test('list-runs serves scripts: --resumable --first, each field of metadata.json and the open question; a unique prefix names a run', async () => {
  const { run, at, workspace } = await scene({
    turns: [calls('ask_human', { prompt: 'Which?' }), { content: 'Done.' }],
  })
  expect((await at('list-runs', '--json')).stdout).toBe('[]\n')
  await run('--run-id', 'done', '-q')
  await at('continue', '-m', 'This.', '-q')
  await run('--run-id', 'asks', '-q')
  expect(await at('list-runs', '--resumable', '--first')).toMatchObject({ stdout: 'asks\n', stderr: '' })
  expect(await at('list-runs', '--status', 'FAILED', '--first')).toMatchObject({ exitCode: 1, stdout: '' })
  expect((await at('list-runs', '--status', 'DONE')).exitCode).toBe(2)
  const question = { request_id: expect.any(String), prompt: 'Which?', input_type: 'text', sensitive: false }
  expect(JSON.parse((await at('list-runs', '--json')).stdout)).toMatchObject([
    { run_id: 'asks', status: 'WAITING_FOR_INPUT', end_time: null, reason_code: 'question', question },
    {
      run_id: 'done',
      status: 'COMPLETED',
      end_time: expect.any(String),
      reason_code: 'answered',
      initial_message: 'Go',
      iterations: 2,
      agent_name: 'test-agent',
      model: 'script',
      usage: { total_tokens: 0 },
      run_directory: join(workspace.path, '.delta/done'),
      question: null,
    },
  ])

  await run('--run-id', 'done-2', '--new', '-q')
  expect((await at('show', 'as')).stdout).toContain('run asks of ')
  expect((await at('show', '--run-id', 'done')).stdout).toContain('run done of ')
  expect((await at('journal verify', '--run-id', 'as')).stdout).toContain('/asks/')
  expect(await at('show', 'as', '--run-id', 'done')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --run-id done and as name two runs. Name one.\n',
  })
  expect(await at('continue', '--run-id', 'do', '-m', 'On')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: 2 run ids begin or end with do. Type more of the one you mean:\n  done\n  done-2\n',
  })
  const journal = join(workspace.path, '.delta/done/journal.jsonl')
  const text = await workspace.read('.delta/done/journal.jsonl')
  await writeFile(journal, text.replace(/"timestamp":"[^"]*"(?=[^\n]*\n$)/, '"timestamp":"yesterday"'))
  expect((await at('list-runs')).stdout).toMatch(
    /^done\s+COMPLETED\s+\?\s+2\s+test-agent\s+script\s+0\s+Go$/m,
  )
})

test('list-runs -w exp/* lists the workspaces that the shell names; one that cannot be read keeps no other from being listed', async () => {
  const { words, workspace: above } = await scene({ agent: { name: 'solver' } })
  await above.write('exp/notes/x', 'x')
  for (const name of ['a', 'b']) {
    const set = ['--set', `llm.model=model-${name}`, '--run-id', `run-${name}`]
    await delta(words('run', '-w', `exp/${name}`, ...set), { cwd: above.path })
  }
  const list = async (typed: string) => {
    const shell = ['sh', '-c', `"$0" "$1" list-runs ${typed}`, process.execPath, DELTA]
    return runProcess(shell, { cwd: above.path, env: cleanEnvironment() })
  }
  const all = await list('-w exp/*')
  expect(all).toMatchObject({ exitCode: 0, stderr: '' })
  expect(all.stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(
      /^RUN\s+WORKSPACE\s+STATUS\s+AGE\s+ITERATIONS\s+AGENT\s+MODEL\s+TOKENS\s+COST\s+TASK$/,
    ),
    expect.stringMatching(/^run-b\s+exp\/b\s+COMPLETED\s+\d+s\s+1\s+solver\s+model-b\s+0\s+Go$/),
    expect.stringMatching(/^run-a\s+exp\/a\s+COMPLETED\s+\d+s\s+1\s+solver\s+model-a\s+0\s+Go$/),
  ])
  expect((await list('-w exp/* --first')).stdout).toBe('run-b\n')
  expect((await list('exp/* --run-id run-a')).stdout).toMatch(/^RUN .*\nrun-a .*\n$/)

  await rm(join(above.path, 'exp/a/.delta'), { recursive: true })
  await above.write('exp/a/.delta', '')
  await above.write('exp/file.txt', 'x')
  const partly = await list("-w exp/* -w gone -w 'no/*'")
  expect(partly.exitCode).toBe(2)
  expect(partly.stdout).toMatch(/^RUN.*\nrun-b .*\n$/)
  expect(partly.stderr).toContain(`${join(above.path, 'exp/a/.delta')}: `)
  expect(partly.stderr).toContain('-w exp/file.txt: it is a file, not a directory.')
  for (const missing of ['gone', 'no/*'])
    expect(partly.stderr).toContain(`-w ${missing}: there is no such directory.`)
})

test('two agents share a workspace, each has its own run, and each is shown by its id', async () => {
  const held = (word: string) => ({
    when: word,
    turns: [calls('say', { text: word }), { content: `${word} is done.`, hold: 'both' }],
  })
  const { start, at, server } = await served(
    { turns: [], conversations: [held('first'), held('second')] },
    { tools: [{ name: 'say', exec: 'echo ${text}' }] },
  )
  const runs = ['first', 'second'].map((word) => start('-m', word, '--run-id', word, '-q'))
  await server.waitForRequests(4)
  const { stdout } = await at('list-runs', '--status', 'RUNNING')
  for (const word of ['first', 'second']) expect(stdout).toMatch(new RegExp(`^${word} .*RUNNING`, 'm'))
  await server.release('both')
  const results = await Promise.all(runs.map(({ result }) => result))
  expect(results.map((result) => result.stdout)).toEqual(['first is done.\n', 'second is done.\n'])
  const shown = (await at('show', 'first')).stdout
  expect(shown).toContain('$ echo first')
  expect(shown).not.toContain('second')
})
