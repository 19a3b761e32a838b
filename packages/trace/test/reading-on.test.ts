import { appendFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { openTrace } from '@delta/trace'
import {
  growingRun,
  readEndedRun,
  recordedChildren,
  type StoredEvent,
  stateOfJournal,
  stepReader,
} from '@delta/trace/internal'
import { expect, test } from 'vitest'
import { pathInRun } from '../src/path-in-run.js'
import {
  all,
  calling,
  journalOf,
  paid,
  place,
  request,
  result,
  runOf,
  type Said,
  start,
  thought,
  user,
} from './runs.js'

const EVENTS: Said[] = [
  start(),
  user('Go.'),
  calling(1, 'a', paid),
  request(1, 'a'),
  result(1, 'a'),
  calling(2, 'b', paid),
  request(2, 'b'),
  result(2, 'b'),
  thought(3, paid),
]

/** As an engine would end the run. */
async function ended(events: readonly Said[], more: object = {}): Promise<Said> {
  const { run } = await openTrace(await runOf(events))
  return {
    type: 'ENGINE_END',
    status: 'COMPLETED',
    final_iteration: run.lastIteration,
    totals: run.totals,
    ...more,
  }
}

const readerOf = (directory: string) =>
  stepReader({
    directory,
    lastSeq: Number.MAX_SAFE_INTEGER,
    model: null,
    isKilled: false,
    childrenOf: recordedChildren,
  })

test('the first line and the ENGINE_END of a run say what reading all of it says', async () => {
  const end = await ended(EVENTS)
  const directory = await runOf([...EVENTS, end])
  const { run } = await openTrace(directory)
  const short = await readEndedRun(directory)
  expect(short?.totals).toEqual({ ...run.totals, duration_ms: expect.any(Number) })
  expect(short?.lastIteration).toBe(3)
  expect(short?.metadata).toMatchObject({
    status: 'COMPLETED',
    created_at: run.metadata.created_at,
    end_time: run.metadata.end_time,
  })
})

test.each([
  ['without an end', async () => EVENTS],
  ['whose end is not the last event', async () => [...EVENTS, await ended(EVENTS), start({ resumed: true })]],
  ['whose end has no totals', async () => [...EVENTS, await ended(EVENTS, { totals: undefined })]],
  [
    'whose totals are not numbers',
    async () => [...EVENTS, await ended(EVENTS, { totals: { all: { cost: 'much' } } })],
  ],
  ['that begins with something else', async () => [user('Go.'), ...EVENTS, await ended(EVENTS)]],
])('a run %s is to be read whole', async (_, events) => {
  expect(await readEndedRun(await runOf(await events()))).toBeUndefined()
})

test('a run that grows is read on, each event once, and adds up to what reading it anew says', async () => {
  const directory = await runOf(EVENTS.slice(0, 4))
  const seen: number[] = []
  const growing = growingRun(directory, { onEvent: ({ seq }: StoredEvent) => seen.push(seq) })
  await growing.read()
  expect((await growing.summary()).lastIteration).toBe(1)
  const rest = journalOf(EVENTS).split('\n').slice(4).join('\n')
  appendFileSync(join(directory, 'journal.jsonl'), rest.slice(0, -20))
  await growing.read()
  appendFileSync(join(directory, 'journal.jsonl'), rest.slice(-20))
  await growing.read()
  await growing.read()
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  const { run } = await openTrace(directory)
  expect(await growing.summary()).toMatchObject({ totals: run.totals, lastSeq: 9, status: run.status })
})

test('a damaged run is read up to the damage, and no further', async () => {
  const { path } = await place({
    'run/journal.jsonl': `${journalOf(EVENTS.slice(0, 5))}{"seq":6}\n${journalOf(EVENTS.slice(5))}`,
  })
  const growing = growingRun(join(path, 'run'))
  await growing.read()
  const { problem, lastIteration } = await growing.summary()
  expect([problem?.code, problem?.line, lastIteration]).toEqual(['ERR_JOURNAL_CORRUPT', 6, 1])
})

test('the last steps, read from the end, are those that reading from the beginning gives', async () => {
  const directory = await runOf(EVENTS)
  const reader = readerOf(directory)
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value))
  const every = plain(await all(reader.steps()))
  for (const count of [1, 2, 3, 9]) {
    const { steps, hasAll, events } = await reader.end(count)
    expect(plain(steps)).toEqual(every.slice(-count))
    expect(hasAll).toBe(count >= 3)
    expect(events.at(-1)?.seq).toBe(9)
  }
})

test('before a start stand the start before it and the event at which the engine ended', async () => {
  const directory = await runOf([...EVENTS, start({ resumed: true }), user('More.'), thought(4, paid)])
  const [earlier, before] = await readerOf(directory).beforeStart(10)
  expect([earlier?.seq, before?.seq]).toEqual([1, 9])
  expect(await readerOf(directory).beforeStart(1)).toEqual([undefined, undefined])
})

test('a path of a journal counts only inside the run, without links, and not in secrets/', async () => {
  const { path } = await place({
    'outside.json': '{}',
    'run/io/x.json': '{}',
    'run/secrets/answer': 'x',
    'run-2/x.json': '{}',
  })
  const run = join(path, 'run')
  symlinkSync(join(path, 'outside.json'), join(run, 'io/link.json'))
  symlinkSync(path, join(run, 'io/up'))
  expect(pathInRun(run, 'io/x.json')).toMatch(/run\/io\/x\.json$/)
  const refused = [
    '../outside.json',
    '../run-2/x.json',
    'io/link.json',
    'io/up/outside.json',
    'secrets/answer',
    'io/../secrets/answer',
    '.',
    '',
    'io/missing.json',
  ]
  for (const ref of refused) expect(pathInRun(run, ref), ref).toBeUndefined()
})

test('the state of a journal changes with what is written', async () => {
  const directory = await runOf(EVENTS)
  const before = stateOfJournal(directory)
  expect(stateOfJournal(directory)).toBe(before)
  appendFileSync(join(directory, 'journal.jsonl'), '\n')
  expect(stateOfJournal(directory)).not.toBe(before)
  expect(stateOfJournal(join(directory, 'missing'))).toBeUndefined()
})
