import { expect, test } from 'vitest'
import { createRun, listRuns, openJournal, openRun, readJournal } from '../src/index.js'
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
  ['listRuns: the workspace', () => listRuns(wrong(undefined))],
])('what cannot be used is named: %s', async (what, call) => {
  await expect(call()).rejects.toMatchObject({
    code: 'ERR_JOURNAL_USAGE',
    message: expect.stringMatching(new RegExp(`^${what}.* is missing, or not what it must be\\.\nPass `)),
  })
})
