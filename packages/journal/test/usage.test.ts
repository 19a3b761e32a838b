import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { foreignErrors } from '@delta/testkit'
import { expect, test } from 'vitest'
import * as journal from '../src/index.js'
import {
  createRun,
  isJournalError,
  latestRunId,
  listRuns,
  openJournal,
  openRecordedRequests,
  openRun,
  parseJournal,
  readJournal,
  readRun,
  readTail,
  recordInvocation,
  recordName,
  replaceFile,
  runDirectory,
} from '../src/index.js'
import { firstEvents, temporaryDirectory } from './helpers.js'

// Called from JavaScript, where no type checker has looked at what is passed.

const wrong = (value: unknown) => value as never

test.each([
  ['createRun: the workspace', () => createRun(wrong(undefined), { events: firstEvents })],
  ['createRun: the option events', () => createRun(temporaryDirectory(), wrong(undefined))],
  ['createRun: the option events', () => createRun(temporaryDirectory(), wrong({ events: [] }))],
  [
    'createRun: the option runId',
    () => createRun(temporaryDirectory(), wrong({ events: firstEvents, runId: 5 })),
  ],
  ['openRun: the directory', () => openRun(wrong(undefined))],
  ['openJournal: the path', async () => openJournal(wrong(undefined))],
  ['readJournal: the path', () => readJournal(wrong(undefined))],
  ['openJournal: the path', async () => openJournal('a\0b')],
  ['openJournal: the option onEvent', async () => openJournal('a.jsonl', { onEvent: wrong('log') })],
  ['openJournal: the argument options', async () => openJournal('a.jsonl', wrong(null))],
  ['readJournal: the option fromOffset', () => readJournal('a.jsonl', { fromOffset: -1 })],
  ['readRun: the directory of the run', () => readRun(wrong(undefined))],
  ['readRun: the argument options', () => readRun('r1', wrong(null))],
  ['readTail: the path', () => readTail(wrong(undefined), 3)],
  ['readTail: the number of iterations', () => readTail('a.jsonl', wrong(undefined))],
  ['parseJournal: the piece of a journal', async () => parseJournal(wrong('{}'), { path: 'a.jsonl' })],
  ['parseJournal: the option path', async () => parseJournal(Buffer.from(''), wrong(undefined))],
  ['recordInvocation: the run', async () => recordInvocation(wrong({}), { iteration: 1, request: {} })],
  ...[undefined, 'text', ['a']].map((response): [string, () => Promise<unknown>] => [
    'complete: the response',
    async () => {
      const run = await createRun(temporaryDirectory(), { events: firstEvents })
      recordInvocation(run, { iteration: 1, request: {} }).complete(wrong(response))
    },
  ]),
  ['recordName: the time', async () => recordName(wrong('today'), 'call')],
  ['replaceFile: the data', async () => replaceFile('a.json', wrong({}))],
  ['runDirectory: the id of the run', async () => runDirectory('.', wrong(undefined))],
  [
    'createRun: what the option events made',
    () => createRun(temporaryDirectory(), { events: wrong(() => {}) }),
  ],
  ['listRuns: the workspace', () => listRuns(wrong(undefined))],
])('what cannot be used is named: %s', async (what, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_JOURNAL_USAGE',
    message: expect.stringMatching(new RegExp(`^${what}.* is missing or invalid\\.\nPass `)),
  })
})

test('a workspace that is a file is said to be one', async () => {
  const file = join(temporaryDirectory(), 'workspace')
  writeFileSync(file, '')
  const inTheWay = expect.stringMatching(/workspace.*: Could not be (read|written): .*ENOTDIR/)
  for (const call of [listRuns(file), latestRunId(file), createRun(file, { events: firstEvents })])
    await expect(call).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_JOURNAL_(READ|WRITE)$/),
      message: inTheWay,
    })
})

test('no function answers any value with an error that is not of this package', async () => {
  expect(await foreignErrors(journal, { isOwn: isJournalError, without: ['a\ud800'] })).toEqual([])
})

test('the bytes of a journal may come from anywhere: any Uint8Array is read', () => {
  const line = new TextEncoder().encode('{"seq":1,"timestamp":"2026-11-20T09:30:00.000Z","type":"ORDERED"}\n')
  const { events, endOffset } = parseJournal(line, { path: 'received.jsonl' })
  expect(events).toMatchObject([{ type: 'ORDERED' }])
  expect(endOffset).toBe(line.length)
})

test('a run that is not there has no recorded requests, and that is said', () => {
  expect(() => openRecordedRequests('/nowhere')).toThrow(
    expect.objectContaining({
      code: 'ERR_RUN_NOT_FOUND',
      message: expect.stringContaining('/nowhere: There is no such run.'),
    }),
  )
})
