import { readdirSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { runProcess, startScriptedServer, temporaryWorkspace, waitForFile } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, startDelta } from './delta.js'

const SCORE = 'test "$(cat answer)" = ok'
const MINE = { mine: { agent: './mine' }, nop: { agent: 'nop' } }

/** An agent with a command that first tells a witness, outside of the evaluation, that it ran in this cell. */
function agentFiles(command: string, llm: object = { provider: 'script', script: 'script.yaml' }) {
  const act = { name: 'act', shell: `echo "$DELTA_CELL" >> "$WITNESS"; ${command}`, on_interrupt: 'rerun' }
  return {
    'mine/agent.yaml': JSON.stringify({ name: 'mine', llm, tools: [act] }),
    'mine/context.yaml': 'sources: [{ type: journal, id: history }]\n',
    'mine/script.yaml': '- tool_calls: [{ name: act }]\n- tool_calls: [{ name: act }]\n- content: Done.\n',
  }
}

/** A home with an eval.yaml, two tasks and an agent; commands run in it. */
async function evaluation(keys: object, agent: Record<string, string>) {
  const files = {
    'tasks/one/instruction.md': 'Write ok into the file answer. This is one.\n',
    'tasks/two/instruction.md': 'Write ok into the file answer. This is two.\n',
    witness: '',
    ...agent,
  }
  const home = await temporaryWorkspace(files, { onCleanup: onTestFinished })
  const env = { DELTA_STATE_DIR: join(home.path, 'state'), WITNESS: join(home.path, 'witness') }
  const at = { cwd: home.path, env }
  const write = (more: object) =>
    home.write(
      'eval.yaml',
      JSON.stringify({
        name: 'x',
        tasks: 'tasks/',
        variants: MINE,
        score: { command: SCORE },
        ...keys,
        ...more,
      }),
    )
  await write({})

  /** Runs it; says its first line from `all new` on, how often the agent acted, and where it then stands. */
  async function run(...words: string[]) {
    const before = told().length
    const { exitCode, stdout, stderr } = await delta(['eval', 'run', '--json', ...words], at)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    const [, news = ''] = /^x: .* cells?, (.*)\. 16 at once/.exec(stderr) ?? []
    return { news, acted: told().slice(before), cells: JSON.parse(stdout).cells }
  }
  const told = () => readFileSync(env.WITNESS, 'utf8').split('\n').filter(Boolean)
  return { home, at, write, run, told }
}

/** Every file of an evaluation but the lock of its plan, with what tells that it was written. */
function stampsBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('plan.lock'))
    .sort()
    .map((name) => {
      const { mtimeNs, ctimeNs, ino } = statSync(join(directory, name), { bigint: true })
      return `${name} ${ino} ${mtimeNs} ${ctimeNs}`
    })
}

function scoresIn(home: string): Record<string, number> {
  const lines = readFileSync(join(home, 'x.eval/manifest.jsonl'), 'utf8').trim().split('\n')
  const cells = lines.map((line) => JSON.parse(line))
  return Object.fromEntries(
    cells.map(({ cell, variant, task, repeat }) => [
      `${variant}/${task}/${repeat}`,
      JSON.parse(readFileSync(join(home, 'x.eval/cells', cell, 'result.json'), 'utf8')).score,
    ]),
  )
}

test('an eval.yaml that is changed runs what is new, and no agent whose run is there', {
  timeout: 120_000,
}, async () => {
  const { home, at, write, run } = await evaluation(
    { limits: { tokens: 60 } },
    agentFiles('echo ok > answer'),
  )
  const first = await run()
  expect(first).toMatchObject({ news: 'all new', cells: { planned: 4, scored: 4 } })
  expect(first.acted.length).toBeGreaterThan(0)
  const perCell = first.acted.length / 2

  // the same again changes no file, but that it takes the lock of the plan
  const before = stampsBelow(join(home.path, 'x.eval'))
  expect(await run()).toMatchObject({ news: '0 new', acted: [], cells: { scored: 4 } })
  expect(stampsBelow(join(home.path, 'x.eval'))).toEqual(before)

  // more repeats run only what is new
  await write({ repeats: 2 })
  const amended = await run()
  expect(amended).toMatchObject({ news: '4 new', cells: { planned: 8, scored: 8 } })
  expect(amended.acted).toHaveLength(2 * perCell)
  expect(amended.acted.filter((cell) => first.acted.includes(cell))).toEqual([])

  // a variant with another name keeps its cells
  const other = { other: MINE.mine, nop: MINE.nop }
  await write({ repeats: 2, variants: other })
  expect(await run()).toMatchObject({ news: '0 new', acted: [], cells: { planned: 8, scored: 8 } })
  expect(scoresIn(home.path)).toMatchObject({ 'other/one/1': 1, 'nop/one/1': 0 })

  // another scorer scores again, and no agent runs
  const opposite = { repeats: 2, variants: other, score: { command: `! ${SCORE}` } }
  await write(opposite)
  expect(await run()).toMatchObject({ news: '0 new, 8 to score again', acted: [], cells: { scored: 8 } })
  expect(scoresIn(home.path)).toMatchObject({ 'other/one/1': 0, 'nop/one/1': 1, 'other/two/2': 0 })

  // a raised limit continues only what it ended, a lowered one is refused
  await write({ ...opposite, limits: { tokens: 60_000 } })
  const raised = await run()
  expect(raised.news).toBe('0 new, 4 to continue under a higher limit')
  expect(new Set(raised.acted)).toEqual(new Set([...first.acted, ...amended.acted]))
  await write({ ...opposite, limits: { tokens: 50 } })
  expect(await delta(['eval', 'run'], at)).toMatchObject({
    exitCode: 2,
    stderr:
      'Error: limits.tokens: 50 is below the 60000 under which 8 cells ran. Use another --into, or 60000.\n',
  })
})

test('a new key makes no new cells, and serves those that come', { timeout: 120_000 }, async () => {
  await using server = await startScriptedServer([{ content: 'Done.' }])
  const llm = { provider: 'openai', model: 'm', base_url: server.baseUrl }
  const { home, write, run } = await evaluation(
    { variants: { mine: MINE.mine } },
    { ...agentFiles('true', llm), 'mine/.env': 'DELTA_API_KEY=first-key\n' },
  )
  expect(await run()).toMatchObject({ news: 'all new', cells: { planned: 2, scored: 2 } })
  await home.write('mine/.env', 'DELTA_API_KEY=second-key\n')
  expect((await run()).news).toBe('0 new')
  expect(server.requests()).toHaveLength(2)
  await write({ repeats: 2 })
  expect((await run()).news).toBe('2 new')
  expect(server.requests().map(({ headers }) => headers.authorization)).toEqual([
    ...Array(2).fill('Bearer first-key'),
    ...Array(2).fill('Bearer second-key'),
  ])
})

test('an evaluation that is stopped, moved and run again goes on in the middle of its runs', {
  timeout: 120_000,
}, async () => {
  // its second call waits in the old place only
  const { home, at, run, told } = await evaluation(
    { variants: { mine: MINE.mine } },
    agentFiles(
      'if test -e begun; then case $DELTA_CELL in */x.eval/*) sleep 60;; esac; echo ok > answer; fi; touch begun',
    ),
  )
  const started = startDelta(['eval', 'run', '-q'], at)
  await waitForFile(join(home.path, 'witness'), (text) => text.split('\n').length > 4)
  started.kill('SIGINT')
  expect((await started.result).exitCode).toBe(130)
  renameSync(join(home.path, 'x.eval'), join(home.path, 'moved.eval'))
  const moved = await run('--into', 'moved.eval')
  expect(moved).toMatchObject({ news: '0 new', cells: { planned: 2, scored: 2 } })
  expect(moved.acted).toHaveLength(2) // what had ended before did not run again
  expect(told().filter((cell) => cell.includes('/x.eval/'))).toHaveLength(4)
  expect(readdirSync(home.path)).not.toContain('x.eval')
})

test('the same cells in two evaluations side by side, in a repository that their agents reset, disturb neither each other nor it', {
  timeout: 120_000,
}, async () => {
  const { home, at, told } = await evaluation(
    { variants: { mine: MINE.mine } },
    agentFiles(
      '(setsid sleep 60 &) > /dev/null 2>&1; sleep 0.3; git reset --hard > said 2>&1; git clean -fdx .. > said 2>&1; echo ok > answer',
    ),
  )
  const git = (...words: string[]) =>
    runProcess(['git', '-C', home.path, '-c', 'user.name=n', '-c', 'user.email=n@n', ...words])
  await git('init', '-q')
  await git('add', 'eval.yaml', 'tasks', 'mine')
  await git('commit', '-qm', 'All')
  await home.write('mine/notes', 'not committed\n')
  await home.write('tasks/one/instruction.md', 'Write ok into the file answer. This is the first.\n')
  const evaluations = ['one.eval', 'two.eval']
  const ran = evaluations.map((into) => delta(['eval', 'run', '-q', '--into', into], at))
  expect(await Promise.all(ran)).toMatchObject(Array(2).fill({ exitCode: 0, stderr: '' }))
  const [ones, twos] = evaluations.map((name) => readdirSync(join(home.path, name, 'cells')).sort())
  expect(ones).toEqual(twos)
  expect(told()).toHaveLength(8)
  for (const name of evaluations) {
    const status = await delta(['eval', 'status', name, '--json'], at)
    expect(JSON.parse(status.stdout).cells).toMatchObject({ planned: 2, scored: 2 })
  }
  expect(await home.read('tasks/one/instruction.md')).toContain('the first')
  const { stdout } = await git('status', '--porcelain')
  expect(stdout).toBe(' M tasks/one/instruction.md\n?? mine/notes\n?? state/\n?? witness\n')
})
