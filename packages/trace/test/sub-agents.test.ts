import { appendFile, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { findExportProblem } from '@delta/testkit'
import { expect, test } from 'vitest'
import { exportRun, openTrace } from '../src/index.js'
import {
  all,
  COST,
  calling,
  journalOf,
  numbered,
  paid,
  place,
  request,
  result,
  runOf,
  start,
  thought,
  user,
} from './runs.js'

const ended = { type: 'ENGINE_END', run_id: 'child', status: 'COMPLETED', reason_code: 'answered' }
const child = [start({ run_id: 'child' }), user('Help'), thought(1, paid), ended]

/** The directory of a run whose call started these. */
function caller(child_runs: object[]): Promise<string> {
  return runOf([
    start({ run_id: 'caller' }),
    user('Go'),
    calling(1, 'a', paid),
    request(1, 'a'),
    result(1, 'a', { child_runs }),
    thought(2, paid),
  ])
}

/** A run of `child` as its caller recorded it. */
async function recorded(directory: string): Promise<object> {
  const { totals } = (await openTrace(directory)).run
  return { run_id: 'child', directory, status: 'COMPLETED', reason_code: 'answered', totals }
}

async function withChild() {
  const { path } = await place({ 'child/journal.jsonl': journalOf(child) })
  const where = join(path, 'child')
  return { child: where, directory: await caller([await recorded(where)]) }
}

test('a sub-agent stands with its call, and counts with its caller', async () => {
  const { directory, child: where } = await withChild()
  const { run, steps } = await openTrace(directory)
  expect(run.children).toMatchObject([
    {
      actionId: 'a',
      runId: 'child',
      directory: where,
      status: 'COMPLETED',
      reasonCode: 'answered',
      isGone: false,
      wentOn: false,
    },
  ])
  const [first, second] = await all(steps())
  expect(first?.calls[0]?.children).toEqual(run.children)
  expect(second?.calls).toEqual([])
  expect(run.totals).toMatchObject({
    own: { requests: 2 },
    sub_agents: { runs: 1, requests: 1, cost: COST },
    all: { runs: 2, requests: 3 },
  })
})

test('one that went on after its call had ended is read as it stands now, and said', async () => {
  const { directory, child: where } = await withChild()
  const more = [start({ run_id: 'child', resumed: true }), user('More'), thought(2, paid)]
  await appendFile(
    join(where, 'journal.jsonl'),
    more.map((event, index) => `${JSON.stringify(numbered(event, 5 + index))}\n`).join(''),
  )
  const { run } = await openTrace(directory)
  expect(run.children).toMatchObject([{ status: 'INTERRUPTED', wentOn: true, isGone: false }])
  expect(run.totals.sub_agents).toMatchObject({ runs: 1, requests: 2 })
  expect(run.totals.all.cost).toBeCloseTo(4 * COST, 12)
})

test('one whose directory was removed is gone, and what its caller recorded still counts', async () => {
  const { directory, child: where } = await withChild()
  await rm(where, { recursive: true })
  const { run } = await openTrace(directory)
  expect(run.children).toMatchObject([
    { isGone: true, wentOn: false, status: 'COMPLETED', totals: { own: { requests: 1 } } },
  ])
  expect(run.totals.sub_agents).toMatchObject({ runs: 1, requests: 1, cost: COST })
})

test('at other prices all runs of a tree cost otherwise, but for one that is gone', async () => {
  const { directory, child: where } = await withChild()
  const first = [{ match: '*', input: 20, cache_read: 2, cache_write: 25, output: 100 }]
  const spent = async () => {
    const { totals } = (await openTrace(directory, { prices: { first }, reprice: true })).run
    return [totals.sub_agents.cost, totals.all.cost, totals.by_model.asked?.cost]
  }
  const close = (...times: number[]) => times.map((count) => expect.closeTo(count * COST, 12))
  expect(await spent()).toEqual(close(10, 30, 30))
  await rm(where, { recursive: true })
  expect(await spent()).toEqual(close(1, 21, 21))
})

test('of a fork, what copied calls had started counts in the first run, and is not exported again', async () => {
  const { child: where } = await withChild()
  const copied = { inherited: true }
  const directory = await runOf([
    start({ run_id: 'caller', ...copied }),
    user('Go', copied),
    calling(1, 'a', { ...paid, ...copied }),
    result(1, 'a', { child_runs: [await recorded(where)], ...copied }),
    start({
      run_id: 'run',
      parent: { run_id: 'caller', directory: '/caller', iteration: 1, seq: 4, sha256: '' },
    }),
    thought(2, paid),
  ])
  await appendFile(
    join(where, 'journal.jsonl'),
    `${JSON.stringify(numbered(start({ run_id: 'child', resumed: true }), 5))}\n${JSON.stringify(numbered(thought(2, paid), 6))}\n`,
  )
  const trace = await openTrace(directory)
  expect(trace.run.children).toMatchObject([{ runId: 'child', isInherited: true, wentOn: false }])
  expect(trace.run.totals).toMatchObject({ sub_agents: { runs: 0 }, all: { requests: 1 } })
  for (const format of ['atif', 'otlp'] as const) {
    const text = (await all(exportRun(trace, format, { subAgents: true }))).join('')
    expect(await findExportProblem(format, text)).toBeUndefined()
    expect(text).not.toContain('subagent_trajectory_ref')
  }
})

test('of several entries for one run the last counts', async () => {
  const { path } = await place({ 'child/journal.jsonl': journalOf(child) })
  const told = await recorded(join(path, 'child'))
  const { run } = await openTrace(await caller([{ ...told, totals: null, status: null }, told]))
  expect(run.children).toHaveLength(1)
  expect(run.totals.sub_agents).toMatchObject({ runs: 1, requests: 1 })
})

test.each([
  ['itself', (directory: string) => directory],
  ['itself in other words', (directory: string) => `${directory}/../run/`],
  ['a link to itself', (directory: string) => join(directory, 'link')],
])('a journal that names %s as its sub-agent is read once', async (_title, wordsFor) => {
  const { path } = await place({ 'run/journal.jsonl': '' })
  const directory = join(path, 'run')
  await symlink(directory, join(directory, 'link'))
  const events = [
    start(),
    user('Go'),
    calling(1, 'a', paid),
    request(1, 'a'),
    result(1, 'a', { child_runs: [{ run_id: 'run', directory: wordsFor(directory), totals: null }] }),
  ]
  await appendFile(join(directory, 'journal.jsonl'), journalOf(events))
  const { run } = await openTrace(directory)
  expect(run.children).toMatchObject([{ runId: 'run', totals: null, wentOn: false }])
  expect(run.totals.all).toMatchObject({ runs: 1, requests: 1 })
})

test('two runs that name each other are read once each', async () => {
  const { path, write } = await place()
  const naming = (name: string) => [
    start({ run_id: name }),
    user('Go'),
    calling(1, 'a', paid),
    request(1, 'a'),
    result(1, 'a', {
      child_runs: [{ run_id: 'x', directory: join(path, name === 'one' ? 'two' : 'one'), totals: null }],
    }),
  ]
  for (const name of ['one', 'two']) await write(`${name}/journal.jsonl`, journalOf(naming(name)))
  const { run } = await openTrace(join(path, 'one'))
  expect(run.totals).toMatchObject({ own: { requests: 1 }, sub_agents: { runs: 1, requests: 1 } })
})
