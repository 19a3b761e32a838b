import { openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isJournalError } from '@delta/journal'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, test } from 'vitest'
import { asRecordFailure } from '../src/releasing.js'
import { calls, eventsOf, scene } from './run.js'

const CALL = calls('work')

test('a command that deletes the leases of its run stops the engine, and the run can be continued by force', async () => {
  const { run, resume } = await scene({
    turns: [CALL, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'rm -rf "$DELTA_RUN_DIR/lease"' }],
  })
  await expect(run()).rejects.toMatchObject({ code: 'ERR_RUN_LOST', wayOut: 'take' })
  await expect(resume()).rejects.toMatchObject({ code: 'ERR_RUN_BUSY', wayOut: 'take' })
  const result = await resume({ force: true })
  expect(result.status).toBe('COMPLETED')
  const events = await eventsOf(result)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.filter(({ type }) => type === 'ACTION_RESULT')).toHaveLength(1)
})

test('after a command deleted the journal of its run, the engine and continueRun report the same loss', async () => {
  const { run, resume, workspace } = await scene({
    turns: [CALL, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'rm "$JOURNAL_PATH"; sleep 0.1' }], // longer than the file is taken to be there unseen
  })
  const ended = String(await run().catch((error: Error) => error.message))
  const [runId = ''] = readdirSync(join(workspace.path, '.delta')).filter((name) => name.startsWith('2'))
  const directory = join(workspace.path, '.delta', runId)
  expect(ended.split('\n').slice(0, 2)).toEqual([
    `${directory}/journal.jsonl: The journal was deleted or replaced while it was being written.`,
    'What it held is lost with it. Put it back from a copy, then continue; without it there is nothing to continue.',
  ])
  expect(ended).not.toContain('Go on with')
  await expect(resume()).rejects.toThrow(
    `${directory}: The journal of this run is gone, or empty, though the run had begun: its metadata.json is there.\n` +
      'Put journal.jsonl back from a copy, then continue the run; without it the run cannot be continued.',
  )
})

function failureOf(open: () => unknown): unknown {
  try {
    return open()
  } catch (error) {
    return error
  }
}

test('a missing directory of the run is a write error, a missing file is not', async () => {
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
