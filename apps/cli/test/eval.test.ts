import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, startDelta } from './delta.js'

const EVAL = `tasks: tasks/
variants:
  oracle: { agent: oracle }
  nop: { agent: nop }
repeats: 4
score: { command: sh check.sh }
concurrency: 2
`

const TASK = {
  'instruction.md': 'Write ok into the file answer.\n',
  'tests/check.sh': 'sleep 0.1; test "$(cat answer)" = ok\n',
  'solution/solve.sh': 'sleep 0.1; echo ok > answer\n',
}

/** A home with an eval.yaml and two tasks; commands run in it. */
async function evaluation(files: Record<string, string> = {}) {
  const tasks = ['one', 'two'].flatMap((id) =>
    Object.entries(TASK).map(([name, text]) => [
      `tasks/${id}/${name}`,
      name === 'instruction.md' ? `${text}This is ${id}.\n` : text,
    ]),
  )
  const home = await temporaryWorkspace(
    { 'eval.yaml': `name: x\n${EVAL}`, ...Object.fromEntries(tasks), ...files },
    { onCleanup: onTestFinished },
  )
  const at = { cwd: home.path, env: { DELTA_STATE_DIR: join(home.path, 'state') } }
  const evaluate = (...words: string[]) => delta(['eval', ...words], at)
  const cells = () => readdir(join(home.path, 'x.eval/cells'))
  return { home, at, evaluate, cells }
}

const withoutTimes = (text: string) =>
  text.replaceAll(/ +\d+\.\d s$/gm, ' 0.1 s').replace(/Engine \S+/, 'Engine 0.')
const statusOf = (stdout: string) => JSON.parse(stdout).cells

test('delta eval run that is killed with -9 goes on with the same command, and each cell is scored once', {
  timeout: 60_000,
}, async () => {
  const { home, at, evaluate, cells } = await evaluation()
  const first = startDelta(['eval', 'run'], at)
  await first.waitForOutput((text) => /scored/.test(text), { stream: 'stderr' })
  first.kill('SIGKILL')
  await first.result
  const between = statusOf((await evaluate('status', '--json')).stdout)
  expect(between.scored).toBeGreaterThan(0)
  expect(between.scored).toBeLessThan(16)

  const second = await evaluate('run', '--json')
  expect(second.stderr.split('\n')[0]).toBe(
    'x: 2 tasks x 2 variants x 4 repeats = 16 cells, 0 new. 2 at once, sandbox none.',
  )
  expect(second.exitCode).toBe(0)
  expect(statusOf(second.stdout)).toMatchObject({ planned: 16, scored: 16, lost: 0 })
  for (const cell of await cells()) {
    const names = await readdir(join(home.path, 'x.eval/cells', cell))
    expect(names).toContain('result.json')
    expect(names).not.toContain('results')
  }
  const text = await evaluate('report')
  expect(text.exitCode).toBe(0)
  expect(withoutTimes(text.stdout)).toMatchInlineSnapshot(`
    "x: 2 tasks x 2 variants x 4 repeats = 16 cells: 16 scored, 0 unscored-agent, 0 unscored-infra, 0 invalid. Coverage 100 %. Sandbox none. Engine 0.
    VARIANT  TASKS  RUNS  COVERAGE  SCORE  95 % INTERVAL   pass@4  pass^4  TOKENS/RUN   COST  TIME/RUN
    oracle       2     8     100 %  1.000  0.012 .. 1.000   1.000   1.000           0  $0.00 0.1 s
    nop          2     8     100 %  0.000  0.000 .. 0.988   0.000   0.000           0  $0.00 0.1 s
    AGAINST oracle  TASKS  DIFFERENCE  95 % INTERVAL      p  p (Holm)
    nop                 2      -1.000  -              0.500     0.500
    Tied at 5 %: oracle = nop.
    "
  `)
  const csv = await evaluate('report', '--format', 'csv', '-o', 'x.csv')
  expect(csv).toMatchObject({ exitCode: 0, stdout: '' })
  const [ours, theirs] = [
    await evaluate('report', '--format', 'json'),
    await evaluate('report', 'x.csv', '--format', 'json'),
  ]
  expect(JSON.parse(theirs.stdout).pairs).toEqual(JSON.parse(ours.stdout).pairs)
  expect(await evaluate('report', '--baseline', 'oracel')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: There is no variant oracel to compare with. Variants: oracle, nop.\n',
  })
})

test('Ctrl+C leaves its cells interrupted, and says how to go on', { timeout: 60_000 }, async () => {
  const { at, evaluate } = await evaluation()
  const run = startDelta(['eval', 'run'], at)
  await run.waitForOutput((text) => /scored/.test(text), { stream: 'stderr' })
  run.kill('SIGINT')
  const stopped = await run.result
  expect(stopped.exitCode).toBe(130)
  expect(stopped.stderr).toMatch(/\nStopped\. \d+ cells? without a result will go on: delta eval run\n$/)
  expect(await evaluate('run', '-q')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
})

test('an evaluation that was copied is not run without --trust-run, and its runs are not yours', {
  timeout: 60_000,
}, async () => {
  const { home, at, evaluate } = await evaluation()
  expect((await evaluate('run', '-q', '--only', 'nop/one/1')).exitCode).toBe(0)
  await cp(join(home.path, 'x.eval'), join(home.path, 'copy.eval'), { recursive: true })
  const refused = await evaluate('work', 'copy.eval')
  expect(refused).toMatchObject({
    exitCode: 2,
    stderr:
      'Error: copy.eval was not made by you. It would run 2 agents and 1 scorer from copy.eval/inputs. Look at them, then add --trust-run.\n',
  })
  expect(await evaluate('work', 'x.eval', '--shard', '3/2')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: --shard 3/2: give the number of this worker and of all, such as 3/20.\n',
  })
  const other = { ...at, env: { DELTA_STATE_DIR: join(home.path, 'other') } }
  expect((await delta(['eval', 'run'], other)).exitCode).toBe(2)
  expect(await evaluate('work', 'copy.eval', '-q', '--trust-run')).toMatchObject({
    exitCode: 0,
  })
})

test('a cell is a run to look at, and delta continue refuses it', { timeout: 60_000 }, async () => {
  const { home, at, evaluate, cells } = await evaluation()
  await evaluate('run', '-q', '--only', 'oracle/one/1')
  const [cell = ''] = await cells()
  const attempt = join(home.path, 'x.eval/cells', cell, '1')
  for (const named of ['x.eval/oracle/one/1', join('x.eval/cells', cell), join(attempt, 'runs', `${cell}-1`)])
    expect(await delta(['show', named, '--answer'], at)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const words = [
    'continue',
    '-w',
    join(attempt, 'workspace'),
    '--runs-dir',
    join(attempt, 'runs'),
    '-m',
    'More.',
  ]
  expect(await delta(words, at)).toMatchObject({
    exitCode: 2,
    stderr: 'Error: oracle/one/1 belongs to an evaluation: delta eval run goes on with it.\n',
  })
})

test('keys come from beside the original agent, and lie nowhere in the evaluation', {
  timeout: 60_000,
}, async () => {
  await using server = await startScriptedServer([{ content: 'Done.' }])
  const agent = await temporaryAgent({ baseUrl: server.baseUrl, onCleanup: onTestFinished })
  await agent.write('.env', 'DELTA_API_KEY=key-of-the-author\n')
  const { home, evaluate } = await evaluation({
    'eval.yaml': `name: x\n${EVAL.replace('nop: { agent: nop }', `mine: { agent: ${JSON.stringify(agent.path)} }`)}`,
  })
  expect(await evaluate('run', '-q', '--only', 'mine/one/1')).toMatchObject({ exitCode: 0, stderr: '' })
  const [request] = server.requests()
  expect(request?.headers).toMatchObject({ authorization: 'Bearer key-of-the-author' })
  const files = await readdir(join(home.path, 'x.eval'), { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    files.filter((each) => each.isFile()).map((each) => readFile(join(each.parentPath, each.name), 'utf8')),
  )
  expect(texts.filter((text) => text.includes('key-of-the-author'))).toEqual([])
})

test('without a key nothing is claimed for good: the cells go on once there is one', {
  timeout: 60_000,
}, async () => {
  const llm = { provider: 'openai', model: 'gpt-5.6-luna' }
  const agent = await temporaryAgent({ agent: { llm }, onCleanup: onTestFinished })
  const { evaluate } = await evaluation({
    'eval.yaml': `name: x\n${EVAL.replace('nop: { agent: nop }', `mine: { agent: ${JSON.stringify(agent.path)} }`)}`,
  })
  const run = await evaluate('run', '-q', '--only', 'mine/**')
  expect(run.exitCode).toBe(2)
  expect(run.stderr).toMatch(/^16 cells without a result will go on: delta eval run\nError: .*key/)
  expect(statusOf((await evaluate('status', '--json')).stdout)).toMatchObject({
    pending: 16,
    unscored_infra: 0,
  })
})

test('a past run is a task: only the variant differs', { timeout: 60_000 }, async () => {
  const agent = await temporaryAgent({
    turns: [calls('note'), calls('note'), { content: 'The end.' }, { content: 'More.' }],
    tools: [{ name: 'note', shell: 'echo note >> notes' }],
    agent: { snapshots: 'every_iteration' },
    onCleanup: onTestFinished,
  })
  const { home, at, evaluate } = await evaluation()
  const ran = await delta(['run', '--agent', agent.path, '-w', 'sites/one', '-m', 'Go', '-q'], at)
  expect(ran).toMatchObject({ exitCode: 0 })
  const init = ['init', '--fork', 'sites/one', '--at', '1', '--models', 'luna,o/nova', '--score']
  expect(await evaluate(...init, 'true')).toMatchObject({ exitCode: 2 }) // there is an eval.yaml
  await rm(join(home.path, 'eval.yaml'))
  expect(await evaluate(...init, 'test "$(wc -l < notes)" -eq 2')).toEqual({
    exitCode: 0,
    signal: null,
    stdout: '',
    stderr: 'eval.yaml is written. Run it: delta eval run\n',
  })
  const written = await home.read('eval.yaml')
  expect(written).toBe(`tasks:
  - { fork: "sites/one/.delta/${(await home.read('sites/one/.delta/LATEST')).trim()}", at: 1 }
variants:
  luna: { model: "luna" }
  o-nova: { model: "o/nova" }
repeats: 3
score: { command: "test \\"$(wc -l < notes)\\" -eq 2" }
`)
  await home.write('sites/none/of-a-run', '')
  await home.write(
    'eval.yaml',
    `name: x\n${written.replace(/sites[^"]*/, 'sites/*').replace('repeats: 3', 'repeats: 1')}`,
  )
  const run = await evaluate('run', '--json')
  expect(run.stderr).not.toContain('Error')
  expect(statusOf(run.stdout)).toMatchObject({ planned: 2, scored: 2 })
  const { by_task } = JSON.parse((await evaluate('report', '--format', 'json')).stdout)
  expect(by_task).toMatchObject([{ means: [1, 1] }])
})
