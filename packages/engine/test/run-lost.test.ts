import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { verifyJournal } from '@delta/journal'
import { startProcess, waitForFile } from '@delta/testkit'
import { expect, test } from 'vitest'
import { findRun } from '../src/index.js'
import { eventsOf, scene } from './run.js'

const CALL = { tool_calls: [{ name: 'work', arguments: {} }] }

test('a command that deletes the leases of its run stops the engine, and the run can be continued', async () => {
  const { run, resume } = await scene({
    turns: [CALL, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'rm -rf "$DELTA_RUN_DIR/lease"' }],
  })
  await expect(run()).rejects.toMatchObject({ code: 'ERR_RUN_LOST' })
  const result = await resume()
  expect(result.status).toBe('COMPLETED')
  const events = await eventsOf(result)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1))
  expect(events.filter(({ type }) => type === 'ACTION_RESULT')).toHaveLength(1)
})

test('whoever takes a run whose leases were deleted is its only writer, though the first engine lives', async () => {
  const { agentFiles, workspace, resume } = await scene({
    turns: [CALL, CALL, { content: 'Done.' }],
    tools: [{ name: 'work', shell: 'touch begun; test -e go || { mkfifo wait; read line < wait; }' }],
  })
  const program = fileURLToPath(new URL('./engine-process.mjs', import.meta.url))
  const first = startProcess([process.execPath, program, agentFiles.path, workspace.path])
  await waitForFile(join(workspace.path, 'begun'))
  const { directory } = await findRun(workspace.path)
  await rm(join(directory, 'lease'), { recursive: true })
  await workspace.write('go', '')
  const result = await resume()
  const lost = await first.result
  expect(lost.exitCode).toBe(1)
  expect(lost.stderr).toContain('ERR_RUN_LOST')
  expect(result.status).toBe('COMPLETED')
  expect(verifyJournal(join(directory, 'journal.jsonl')).findings).toEqual([])
})
