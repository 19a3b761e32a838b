import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { evalStatus, planEval, readEval, results, work } from '@delta/evals'
import { expect, test } from 'vitest'
import { below, easyTask, evaluationIn, scriptedAgent } from './evaluation.js'

const EVAL = 'tasks: tasks/\nvariants: { oracle: { agent: oracle } }\nscore: { command: sh check.sh }\n'

test('a cell in which ten workers died is given up, and no agent runs in it', async () => {
  const { plan, work, directory } = await evaluationIn({ 'eval.yaml': EVAL, ...easyTask('one') })
  const { cells } = await plan()
  const lease = join(directory, 'cells', cells[0]?.cell ?? '', 'lease')
  mkdirSync(lease, { recursive: true })
  const gone = {
    pid: 2 ** 30,
    process_start: '1',
    boot_id: 'another',
    pid_namespace: '',
    host: 'x',
    taken: '2020-01-01',
  }
  for (let number = 1; number <= 10; number++) {
    const path = join(lease, String(number))
    writeFileSync(path, JSON.stringify(gone))
    utimesSync(path, 0, 0) // its heartbeat stopped long ago
  }
  await work()
  const [found] = results(directory)
  expect(found?.result).toMatchObject({
    state: 'unscored-infra',
    reason: 'workers_died',
    detail: '10 workers died in this cell',
    run: null,
  })
})

test('an evaluation that was moved goes on where it is', async () => {
  const {
    plan,
    work: workHere,
    directory,
    place,
    env,
  } = await evaluationIn({ 'eval.yaml': EVAL, ...easyTask('one'), ...easyTask('two') })
  await plan()
  await workHere({ only: 'oracle/one/1' })
  const moved = join(place.path, 'moved.eval')
  renameSync(directory, moved)
  await work(moved, { env, sync: false })
  expect(evalStatus(moved).cells).toMatchObject({ planned: 2, scored: 2 })
  const evaluation = await readEval(join(place.path, 'eval.yaml'))
  expect(await planEval(evaluation, moved, { env })).toMatchObject({ added: 0, kept: 2, rescored: 0 })
})

test('the same cells in two evaluations side by side do not end one another', async () => {
  const { plan, place, directory, env } = await evaluationIn({
    'eval.yaml': EVAL.replace('oracle: { agent: oracle }', 'a: { agent: ./a }'),
    ...below('a', scriptedAgent('sleep 0.5; echo ok > answer')),
    ...easyTask('one'),
  })
  await plan()
  const other = join(place.path, 'other.eval')
  await planEval(await readEval(join(place.path, 'eval.yaml')), other, { env })
  await Promise.all([directory, other].map((each) => work(each, { env, sync: false })))
  for (const each of [directory, other]) expect(results(each).map(({ result }) => result?.score)).toEqual([1])
})

test('where the workspaces are gone, another scorer is refused', async () => {
  const { plan, work, place } = await evaluationIn({
    'eval.yaml': `${EVAL}keep: never\n`,
    ...easyTask('one'),
  })
  await plan()
  await work()
  await place.write('eval.yaml', `${EVAL.replace('sh check.sh', 'sh ./check.sh')}keep: never\n`)
  await expect(plan()).rejects.toThrow(
    'The workspaces of 1 cells are gone (keep: never), so they cannot be scored again. Use another --into.',
  )
})
