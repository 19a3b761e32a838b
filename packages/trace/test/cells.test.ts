import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findRuns, openTrace } from '../src/index.js'
import { all, journalOf, paid, place, start, thought, user } from './runs.js'

const runOf = (id: string, more: object = {}) =>
  journalOf([start({ run_id: id, ...more }), user('Go'), thought(1, paid)])

const planned = (cell: string, more: object = {}) => ({
  cell,
  variant: 'luna',
  task: 'bowling',
  repeat: 1,
  seed: 7,
  score_hash: 's1',
  ...more,
})

const result = (attempt: number, more: object = {}) =>
  `${JSON.stringify({ attempt, state: 'scored', score: 0.5, score_hash: 's1', ...more })}\n`

const manifest = (...cells: object[]) => cells.map((cell) => `${JSON.stringify(cell)}\n`).join('')

/** Four cells: one scored at its second attempt, one without a result, one without a run, and one that left the plan. */
async function evaluation() {
  const { path, write } = await place({
    'x.eval/plan.json': '{}',
    'x.eval/manifest.jsonl': manifest(
      planned('aa'),
      planned('bb', { repeat: 2 }),
      planned('cc', { repeat: 3 }),
    ),
    'x.eval/cells/aa/cell.json': JSON.stringify(planned('aa', { variant: 'old name' })),
    'x.eval/cells/aa/result.json': result(2),
    'x.eval/cells/aa/1/runs/aa-1/journal.jsonl': runOf('aa-1'),
    'x.eval/cells/aa/2/runs/aa-2/journal.jsonl': runOf('aa-2'),
    'x.eval/cells/aa/2/workspace/.delta/child/journal.jsonl': runOf('child'),
    'x.eval/cells/aa/2/workspace/cells/bb/1/runs/bb-1/journal.jsonl': runOf('bb-1'), // a tool may write anything
    'x.eval/cells/bb/cell.json': JSON.stringify(planned('bb', { repeat: 2 })),
    'x.eval/cells/bb/1/runs/bb-1/journal.jsonl': runOf('bb-1'),
    'x.eval/cells/dd/cell.json': JSON.stringify(planned('dd')),
    'x.eval/cells/dd/result.json': result(1),
    'x.eval/cells/dd/1/runs/dd-1/journal.jsonl': runOf('dd-1'),
    'x.eval/inputs/00/run/.delta/forked/journal.jsonl': runOf('forked'),
    'other/.delta/mine/journal.jsonl': runOf('mine'),
  })
  return { at: (name: string) => join(path, name), write }
}

const found = async (directory: string) =>
  Object.fromEntries((await all(findRuns([directory]))).map(({ runId, cell }) => [runId, cell]))

test('of an evaluation each cell is one run, of the attempt that counts, with where the cell stands', async () => {
  const { at } = await evaluation()
  const cells = await found(at('.'))
  expect(Object.keys(cells).sort()).toEqual(['aa-2', 'bb-1', 'child', 'dd-1', 'mine'])
  expect(cells['aa-2']).toEqual({
    evaluation: at('x.eval'),
    id: 'aa',
    variant: 'luna',
    task: 'bowling',
    repeat: 1,
    seed: 7,
    attempt: 2,
    counts: true,
    state: 'scored',
    score: 0.5,
  })
  expect(cells['bb-1']).toMatchObject({ repeat: 2, counts: true, state: 'pending', score: null })
  expect(cells['dd-1']).toMatchObject({ counts: false, state: 'left', score: 0.5 })
  expect([cells.mine, cells.child]).toEqual([undefined, undefined])
  expect(Object.keys(await found(at('x.eval')))).toHaveLength(4)
})

test('a cell is found by its directory and by its name; an attempt by its run, which may not count', async () => {
  const { at } = await evaluation()
  for (const name of ['x.eval/cells/aa', 'x.eval/luna/bowling/1'])
    expect(Object.keys(await found(at(name))).sort()).toEqual(['aa-2', 'child'])
  const { run } = await openTrace(at('x.eval/cells/aa/1/runs/aa-1'))
  expect(run.cell).toMatchObject({ attempt: 1, counts: false, state: 'earlier', score: null })
})

test('without a result the newest attempt counts, and the lease says where the cell stands', async () => {
  const { at, write } = await evaluation()
  await rm(at('x.eval/cells/aa/result.json'))
  await write('x.eval/cells/aa/3/runs/aa-3/journal.jsonl', runOf('aa-3'))
  const holder = (pid: number, more: object = {}) =>
    JSON.stringify({ pid, process_start: null, boot_id: '', pid_namespace: '', host: '', taken: '', ...more })
  await write('x.eval/cells/aa/lease/1', holder(1))
  expect((await found(at('x.eval')))['aa-3']).toMatchObject({ attempt: 3, counts: true, state: 'running' })
  await write('x.eval/cells/aa/lease/2', holder(1, { released: '2026-11-20T10:00:00Z' }))
  expect((await found(at('x.eval')))['aa-3']).toMatchObject({ state: 'pending' })
})

test('the score of another scorer is none, and a moved evaluation stays one', async () => {
  const { at, write } = await evaluation()
  await write('x.eval/manifest.jsonl', manifest(planned('aa', { score_hash: 's2', variant: 'new' })))
  await rename(at('x.eval'), at('y'))
  expect((await found(at('y')))['aa-2']).toMatchObject({ variant: 'new', state: 'pending', score: null })
})

test('what a tool wrote in place of a result, a name or a cell makes no other run of it', async () => {
  const { at, write } = await evaluation()
  await write('x.eval/cells/aa/result.json', result('../../../../other/.delta' as unknown as number))
  await write('x.eval/manifest.jsonl', `{"cell":"../../other"}\nno JSON\n[]\n${manifest(planned('aa'))}`)
  await write('x.eval/cells/bb/cell.json', '"text"')
  await rm(at('x.eval/cells/dd'), { recursive: true })
  await writeFile(at('x.eval/cells/dd'), 'a file')
  await mkdir(at('x.eval/cells/ee'))
  const cells = await found(at('x.eval'))
  expect(Object.keys(cells).sort()).toEqual(['aa-2', 'bb-1', 'child'])
  expect(cells['aa-2']).toMatchObject({ state: 'pending', score: null })
  expect(cells['bb-1']).toBeUndefined()
})
