import { openSync } from 'node:fs'
import { join } from 'node:path'
import { isJournalError } from '@delta/journal'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { asRecordFailure } from '../src/finish.js'

function failureOf(open: () => unknown): unknown {
  try {
    return open()
  } catch (error) {
    return error
  }
}

test('a directory of the run that is gone while a record is written is no failure of the run, a file that is missing is none of its records', async () => {
  await using workspace = await temporaryWorkspace({})
  const run = { directory: workspace.path } as Parameters<typeof asRecordFailure>[1]
  const gone = failureOf(() => openSync(join(workspace.path, 'io/tool_executions/a.json'), 'w'))
  const missing = failureOf(() => openSync(join(workspace.path, 'a.json'), 'r'))
  const elsewhere = failureOf(() => openSync('/no/such/directory/a.json', 'w'))

  expect(isJournalError(asRecordFailure(gone, run))).toBe(true)
  expect(asRecordFailure(gone, run)).toMatchObject({
    message: expect.stringContaining('a.json: Could not be written: its directory does not exist (ENOENT).'),
  })
  expect(asRecordFailure(missing, run)).toBe(missing)
  expect(asRecordFailure(elsewhere, run)).toBe(elsewhere)
})
