import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TemporaryWorkspace, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { delta } from './delta.js'
import { twoRuns } from './two-runs.js'

test('list-runs shows each run with status, age, iterations, agent, model, tokens and task, newest first', async () => {
  await using workspace = await twoRuns()
  const { stdout } = await delta(['list-runs', '-w', workspace.path])
  const [header, ...rows] = stdout.trimEnd().split('\n')
  expect(header).toMatch(/^RUN\s+STATUS\s+AGE\s+ITERATIONS\s+AGENT\s+MODEL\s+TOKENS\s+TASK$/)
  expect(rows).toEqual([
    expect.stringMatching(/^asks\s+WAITING_FOR_INPUT\s+\d+s\s+1\s+test-agent\s+script\s+0\s+Task asks$/),
    expect.stringMatching(/^done\s+COMPLETED\s+\d+s\s+2\s+test-agent\s+script\s+0\s+Task done$/),
  ])
})

test('list-runs --resumable --first prints one id for a script, and exits with 1 when there is none', async () => {
  await using workspace = await twoRuns()
  expect(await delta(['list-runs', '--resumable', '--first', '-w', workspace.path])).toMatchObject({
    exitCode: 0,
    stdout: 'asks\n',
    stderr: '',
  })
  expect(await delta(['list-runs', '--status', 'FAILED', '--first', '-w', workspace.path])).toMatchObject({
    exitCode: 1,
    stdout: '',
  })
  expect((await delta(['list-runs', '--status', 'DONE', '-w', workspace.path])).exitCode).toBe(2)
})

test('list-runs --json has every field of metadata.json, and a workspace without runs is an empty list', async () => {
  await using workspace = await twoRuns()
  const runs = JSON.parse((await delta(['list-runs', '--json', '-w', workspace.path])).stdout)
  expect(runs[1]).toMatchObject({
    run_id: 'done',
    status: 'COMPLETED',
    reason_code: 'answered',
    initial_message: 'Task done',
    iterations: 2,
    agent_name: 'test-agent',
    model: 'script',
    usage: { total_tokens: 0 },
    run_directory: join(workspace.path, '.delta/done'),
  })
  await using empty = await temporaryWorkspace({})
  expect((await delta(['list-runs', '--json', '-w', empty.path])).stdout).toBe('[]\n')
})

test('list-runs --json has the question of a run that waits, as --format json prints it', async () => {
  await using workspace = await twoRuns()
  const runs = JSON.parse((await delta(['list-runs', '--json', '-w', workspace.path])).stdout)
  expect(runs[0]).toMatchObject({ run_id: 'asks', status: 'WAITING_FOR_INPUT', reason_code: 'question' })
  expect(runs[0].question).toEqual({
    request_id: expect.stringMatching(/./),
    prompt: 'Which?',
    input_type: 'text',
    sensitive: false,
  })
  expect(runs[1].question).toBe(null)
})

test('a run that is damaged or cannot be read keeps no other from being listed, and stderr says what is wrong with it', async () => {
  await using workspace = await twoRuns()
  const journal = join(workspace.path, '.delta/asks/journal.jsonl')
  await rm(journal)
  await mkdir(journal) // nobody can read a directory as a file, not even root
  const problem = `${journal}: Could not be read: it is a directory, not a file (EISDIR).`

  const listed = await delta(['list-runs', '-w', workspace.path])
  expect(listed.exitCode).toBe(0)
  expect(listed.stdout).toMatch(/^done\s+COMPLETED\s.*\nasks\s+DAMAGED\s+0\s+0$/m)
  expect(listed.stderr).toBe(
    `Run asks is damaged: ${problem}\nPut back the file that was there, or remove what is in its place.\n`,
  )
  const runs = JSON.parse((await delta(['list-runs', '--json', '-w', workspace.path])).stdout)
  expect(runs).toMatchObject([
    { run_id: 'done', status: 'COMPLETED' },
    { run_id: 'asks', status: 'DAMAGED', problem: expect.stringContaining(problem) },
  ])

  const shown = await delta(['show', 'asks', '-w', workspace.path])
  expect(shown).toMatchObject({ exitCode: 1, stdout: '' })
  expect(shown.stderr).toContain(`Error: ${problem}\n`)
})

test('a damaged run is not offered to a script that resumes runs', async () => {
  await using workspace = await twoRuns()
  const path = join(workspace.path, '.delta/asks/journal.jsonl')
  await writeFile(path, `${await readFile(path, 'utf8')}no event\n{"seq":99}\n`)
  const result = await delta(['list-runs', '--resumable', '--first', '-w', workspace.path])
  expect(result).toMatchObject({ exitCode: 1, stdout: '' })
})

test('a time that is none is a question mark in list-runs, and no number', async () => {
  await using workspace = await twoRuns()
  const path = join(workspace.path, '.delta/done/journal.jsonl')
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace(/"timestamp":"[^"]*"(?=[^\n]*\n$)/, '"timestamp":"yesterday"'))
  const { stdout } = await delta(['list-runs', '-w', workspace.path])
  expect(stdout).toMatch(/^done\s+COMPLETED\s+\?\s+2\s+test-agent\s+script\s+0\s+Task done$/m)
})

/** Workspaces "exp/a" and "exp/b" with a run each, "exp/notes" without, and a file. */
async function experiment(): Promise<TemporaryWorkspace> {
  const above = await temporaryWorkspace({ 'exp/file.txt': 'x', 'exp/notes/x': 'x' })
  await using agent = await temporaryAgent({ agent: { name: 'solver' } })
  for (const name of ['a', 'b']) {
    const set = ['--set', `llm.model=model-${name}`, '--run-id', `run-${name}`]
    await delta(['run', '--agent', agent.path, '-m', name, '-w', `exp/${name}`, ...set], { cwd: above.path })
  }
  return above
}

test('list-runs takes several workspaces and patterns, and says of each run where it lies', async () => {
  await using above = await experiment()
  const list = (...args: string[]) => delta(['list-runs', ...args], { cwd: above.path })
  const withoutAge = (text: string) => text.replaceAll(/(?<=COMPLETED +)\d+s +/g, '')
  const all = await list('-w', 'exp/*')
  expect(all).toMatchObject({ exitCode: 0, stderr: '' })
  const [header, ...rows] = all.stdout.trimEnd().split('\n')
  expect(header).toMatch(/^RUN\s+WORKSPACE\s+STATUS\s+AGE\s+ITERATIONS\s+AGENT\s+MODEL\s+TOKENS\s+TASK$/)
  expect(rows).toEqual([
    expect.stringMatching(/^run-b\s+exp\/b\s+COMPLETED\s+\d+s\s+1\s+solver\s+model-b\s+0\s+b$/),
    expect.stringMatching(/^run-a\s+exp\/a\s+COMPLETED\s+\d+s\s+1\s+solver\s+model-a\s+0\s+a$/),
  ])
  for (const args of [
    ['-w', 'exp/a', '-w', 'exp/b'],
    ['exp/a', 'exp/b'],
    ['-w', 'exp/[ab]'],
    ['-w', '*/?'],
  ])
    expect(withoutAge((await list(...args)).stdout)).toBe(withoutAge(all.stdout))
  expect((await list('-w', 'exp/*', '--first')).stdout).toBe('run-b\n')
  const records = JSON.parse((await list('-w', 'exp/*', '--json')).stdout)
  expect(records).toMatchObject([
    {
      run_id: 'run-b',
      agent_name: 'solver',
      model: 'model-b',
      run_directory: join(above.path, 'exp/b/.delta/run-b'),
    },
    { run_id: 'run-a', model: 'model-a' },
  ])
  expect((await list('-w', 'exp/[!a]')).stdout).toMatch(/^RUN\s+STATUS(.|\n)*run-b/)
})

test('a workspace that cannot be read keeps no other from being listed', async () => {
  await using above = await experiment()
  await rm(join(above.path, 'exp/a/.delta'), { recursive: true })
  await writeFile(join(above.path, 'exp/a/.delta'), '')
  const list = (...args: string[]) => delta(['list-runs', ...args], { cwd: above.path })
  const { exitCode, stdout, stderr } = await list(
    '-w',
    'exp/*',
    '-w',
    'exp/file.txt',
    '-w',
    'gone',
    '-w',
    'no/*',
  )
  expect(exitCode).toBe(2)
  expect(stdout).toMatch(/^RUN.*\nrun-b .*\n$/)
  expect(stderr).toContain(`${join(above.path, 'exp/a/.delta')}: `)
  expect(stderr).toContain('-w exp/file.txt: it is a file, not a directory.')
  expect(stderr).toContain('-w gone: there is no such directory.')
  expect(stderr).toContain('-w no/*: there is no such directory.')
  expect(await list('-w', 'no/*')).toMatchObject({ exitCode: 2, stdout: '' })
})
