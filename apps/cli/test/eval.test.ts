import { cp, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startScriptedServer, temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { calls, delta, journalOf, startDelta } from './delta.js'

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
    AGAINST oracle  TASKS  DIFFERENCE  95 % INTERVAL      p  p (flip)  p (Holm)
    nop                 2      -1.000  -              0.500     0.500     0.500
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
  expect(stopped.stderr).toMatch(/\n\d+ cells? left: delta eval run\nStopped\.\n$/)
  expect(stopped.stderr.split('delta eval run')).toHaveLength(2)
  expect(await evaluate('run', '-q')).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
})

test('a broken scorer: what it said, and the way out, which names the evaluation', {
  timeout: 60_000,
}, async () => {
  const text = EVAL.replace('sh check.sh', 'echo no numpy >&2; exit 7').replace('repeats: 4', 'repeats: 1')
  const { home, evaluate } = await evaluation({ 'other.yaml': `name: third\n${text}` })
  const dry = await evaluate('run', 'other.yaml', '--dry-run', '--only', 'nop/**')
  expect(dry.stderr).toContain('\nWould work on 2 cells.\n')
  expect(await evaluate('run', 'other.yaml', '--only', 'x/*')).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/\nError: no cell matches x\/\*\./),
  })
  const hint =
    /third\.eval\/cells\/\w+\/scores\/score-1\/stderr: no numpy\nOnce eval\.yaml or its scorers are changed: delta eval run other\.yaml\nIf the fault was elsewhere: delta eval retry third\.eval\n/
  expect(await evaluate('run', 'other.yaml')).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(hint),
  })
  expect((await evaluate('status', 'third.eval')).stdout).toMatch(hint)
  const page = await evaluate('report', 'third.eval', '--format', 'html', '-o', 'third.html')
  expect(page.stderr).toBe('third.html is written.\n')
  expect((await evaluate('report', 'third.eval')).stdout).toContain(
    '(delta eval retry third.eval; after a change of eval.yaml or its scorers: delta eval run other.yaml)',
  )
  expect(await evaluate('run', 'third.eval')).toMatchObject({
    exitCode: 2,
    stderr: 'Error: third.eval is a directory. Name the eval.yaml: delta eval run other.yaml\n',
  })
  await home.write('other.yaml', `name: third\n${text.replace('exit 7', 'exit 0')}`)
  const again = await evaluate('retry', 'third.eval')
  expect(again.exitCode).toBe(1)
  expect(again.stderr).toMatch(
    /^eval\.yaml has changed since it was planned\..*: delta eval run other\.yaml\n/,
  )
  expect((await evaluate('run', 'other.yaml')).exitCode).toBe(0)
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
  const [named, kept] = ['x.eval/oracle/one/1', join('x.eval/cells', cell)]
  for (const each of [named, kept, join(attempt, 'runs', `${cell}-1`)])
    expect(await delta(['show', each, '--answer'], at)).toMatchObject({ exitCode: 0, stdout: 'Done.\n' })
  const read = async (...words: string[]) => (await delta(words, at)).stdout
  expect(await read('diff', named, kept)).toContain('same: 2 iterations.')
  expect(await read('cost', named)).toMatch(/^run \S+ of oracle/)
  expect(JSON.parse(await read('export', kept, '--format', 'atif')).session_id).toBe(`${cell}-1`)
  expect(await read('view', named, '--export', 'cell.html')).toMatch(/^cell.html: 2 steps/)
  expect(JSON.parse(await read('cost', 'x.eval', '--by', 'run', '--json')).rows).toHaveLength(1)
  for (const place of [named, kept, join(attempt, 'workspace')])
    expect(await delta(['continue', '-w', place, '-m', 'More.'], at)).toMatchObject({
      exitCode: 2,
      stderr: 'Error: oracle/one/1 belongs to an evaluation: delta eval run goes on with it.\n',
    })
  for (const [typed, why] of [
    ['x.eval', 'x.eval is an evaluation. It has 16 cells. Name one, such as x.eval/'],
    ['x.eval/oracle/three/1', 'There is no cell x.eval/oracle/three/1. It has 16 cells. Name one, such as '],
    ['x.eval/nop/one/1', 'nop/one/1 has no run: it is pending.'],
  ] as const)
    expect((await delta(['show', typed], at)).stderr).toContain(why)
})

test('a fork of a cell has the agent that was planned, or none where a tool has written the plan', {
  timeout: 60_000,
}, async () => {
  const { home, at, evaluate } = await evaluation()
  await evaluate('run', '-q', '--only', 'oracle/one/1')
  const fork = () => delta(['fork', 'x.eval/oracle/one/1', '--at', '1', '--no-run', '--without-files'], at)
  const forked = await fork()
  expect(forked.stdout).toMatch(/\/oracle-one-1-fork-1\n$/)
  const [, plan = ''] = [home.path, join(home.path, 'x.eval/plan.json')]
  const text = await readFile(plan, 'utf8')
  const { variants } = JSON.parse(text)
  const other = JSON.stringify(JSON.parse(text)).replace(variants[0].agent, '../evil')
  await home.write('x.eval/plan.json', other)
  expect(await fork()).toMatchObject({ exitCode: 2, stdout: '' })
  expect((await fork()).stderr).toContain('is not among your runs')
  expect((await evaluate('work', 'x.eval')).stderr).toMatch(
    /^Error: x.eval\/plan.json is not what you planned. /,
  )
  expect(await evaluate('run', '-q', '--only', 'oracle/one/1')).toMatchObject({ exitCode: 0 })
  expect((await fork()).stdout).toMatch(/\/oracle-one-1-fork-1-2\n$/)
})

test('three models go on from one point of a run: the same files and words, and nothing of it is paid again', {
  timeout: 60_000,
}, async () => {
  const turns = [calls('note'), calls('note'), { content: 'The end.' }, { content: 'More.' }]
  await using server = await startScriptedServer(turns)
  const agent = await temporaryAgent({
    baseUrl: server.baseUrl,
    tools: [{ name: 'note', shell: 'pwd >> notes; cat notes' }],
    agent: { snapshots: { every: 'iteration', wait_ms: 60_000 } },
    onCleanup: onTestFinished,
  })
  await agent.write('.env', 'DELTA_API_KEY=key-of-the-author\n')
  const { home, at, evaluate, cells } = await evaluation()
  await rm(join(home.path, 'eval.yaml'))
  await home.write('site/hint', 'as it was\n')
  await delta(['run', '--agent', agent.path, '-w', 'site', '--run-id', 'parent', '-m', 'Go', '-q'], at)
  const parent = () => readFile(join(home.path, 'site/.delta/parent/journal.jsonl'), 'utf8')
  const before = await parent()

  const score = 'test "$(wc -l < notes)" -eq 2'
  const init = await evaluate('init', '--fork', 'site', '--at', '1', '--models', 'a,b,c', '--score', score)
  expect(init.stderr).toBe('eval.yaml is written. Run it: delta eval run\n')
  const written = await readFile(join(home.path, 'eval.yaml'), 'utf8')
  await home.write('eval.yaml', `name: x\n${written.replace('repeats: 3', 'repeats: 1')}`)
  const ran = await evaluate('run', '--json')
  expect(JSON.parse(ran.stdout)).toMatchObject({ cells: { scored: 3 }, totals: { requests: 6 } })
  expect(await parent()).toBe(before)

  const lines = before.split('\n')
  for (const cell of await cells()) {
    const attempt = join(home.path, 'x.eval/cells', cell, '1')
    const journal = await readFile(join(attempt, 'runs', `${cell}-1/journal.jsonl`), 'utf8')
    const inherited = journal.split('\n').filter((line) => line.endsWith(',"inherited":true}'))
    expect(inherited.map((line) => line.replace(',"inherited":true}', '}'))).toEqual(
      lines.slice(0, inherited.length),
    )
    const types = inherited.map((line) => JSON.parse(line).type).filter((type) => type !== 'SNAPSHOT') // may follow the next thought
    expect(types).toEqual(['ENGINE_START', 'USER_MESSAGE', 'THOUGHT', 'ACTION_REQUEST', 'ACTION_RESULT'])
    expect(await readdir(join(attempt, 'workspace'))).toEqual(['hint', 'notes'])
    expect(await readFile(join(attempt, 'workspace/hint'), 'utf8')).toBe('as it was\n')
    expect(await readFile(join(attempt, 'workspace/notes'), 'utf8')).toBe(
      `${home.path}/site\n${attempt}/workspace\n`,
    )
    const {
      score: own,
      totals,
      models,
    } = JSON.parse(await readFile(join(home.path, 'x.eval/cells', cell, 'result.json'), 'utf8'))
    expect([own, totals.all.requests, models]).toEqual([1, 2, [expect.any(String)]])
  }
  const bodies = server
    .requests()
    .map(({ body }) => JSON.parse(body) as { model: string; messages: object[] })
  const second = bodies[1]
  const ofCells = ['a', 'b', 'c'].flatMap((name) => bodies.find(({ model }) => model === name) ?? [])
  expect(ofCells).toHaveLength(3)
  for (const { messages } of ofCells) {
    const read = JSON.stringify(messages).replaceAll(/[^"\\ ]+\/1\/workspace/g, join(home.path, 'site'))
    expect(JSON.parse(read)).toEqual(second?.messages)
  }

  await delta(['continue', '-w', 'site', '-m', 'On', '-q'], at) // a parent that goes on makes no cell new
  expect(await parent()).not.toBe(before)
  const again = await evaluate('run', '--dry-run', '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ planned: 3, added: 0, kept: 3 })
  const { task } = JSON.parse(
    (await readFile(join(home.path, 'x.eval/manifest.jsonl'), 'utf8')).split('\n')[0] ?? '',
  )
  const fork = ['fork', `x.eval/b/${task}/1`, '--at', '2', '--no-run', '--without-files', '--into', 'further']
  expect(await delta(fork, at)).toMatchObject({ exitCode: 0 })
  const start = (await journalOf(join(home.path, 'further'))).findLast(({ type }) => type === 'ENGINE_START')
  expect(start).toMatchObject({
    agent_home: expect.stringContaining('x.eval/inputs/'),
    config: { llm: { model: 'b' } },
  })
})

test('keys come from beside the original agent, and lie nowhere in the evaluation; prices come from --prices', {
  timeout: 60_000,
}, async () => {
  await using server = await startScriptedServer([{ content: 'Done.' }])
  const agent = await temporaryAgent({ baseUrl: server.baseUrl, onCleanup: onTestFinished })
  await agent.write('.env', 'DELTA_API_KEY=key-of-the-author\n')
  const { home, evaluate } = await evaluation({
    'eval.yaml': `name: x\nlimits: { cost: 1 }\n${EVAL.replace('nop: { agent: nop }', `mine: { agent: ${JSON.stringify(agent.path)} }`)}`,
    'prices.yaml': "- { match: 'scr*', input: 7, output: 9 }\n",
  })
  const command = ['run', '-q', '--only', 'mine/one/1']
  expect((await evaluate(...command)).stderr).toContain('limits.cost: no price for scripted (variant mine).')
  expect(await evaluate(...command, '--prices', 'prices.yaml')).toMatchObject({ exitCode: 0, stderr: '' })
  const [request] = server.requests()
  expect(request?.headers).toMatchObject({ authorization: 'Bearer key-of-the-author' })
  const files = await readdir(join(home.path, 'x.eval'), { recursive: true, withFileTypes: true })
  const texts = await Promise.all(
    files.filter((each) => each.isFile()).map((each) => readFile(join(each.parentPath, each.name), 'utf8')),
  )
  expect(texts.filter((text) => text.includes('key-of-the-author'))).toEqual([])
  expect(texts.join('')).toContain('"price":{"input":7,')
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
