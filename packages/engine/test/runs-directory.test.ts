import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { findRun } from '../src/index.js'
import { eventsOfType, scene } from './run.js'

test('a program keeps the runs of a workspace elsewhere, and goes on with them there', async () => {
  const { run, resume, workspace } = await scene({
    tools: [{ name: 'where', shell: 'echo "$RUN_DIR $DELTA_RUNS_DIR"' }],
    turns: [
      { tool_calls: [{ name: 'where', arguments: {} }] },
      { content: '{{last_observation}}' },
      { content: 'More.' },
    ],
  })
  const elsewhere = await temporaryWorkspace({})
  onTestFinished(() => elsewhere.remove())
  const runsDirectory = join(elsewhere.path, 'runs')
  const allowed = { importRoots: ['/common'] }
  const sources = { origins: [], workspaceEnvDigest: '0a' }
  const result = await run({ runsDirectory, allowed, sources })
  expect(result.answer).toBe(`${result.runDirectory} ${runsDirectory}`)
  expect(dirname(result.runDirectory)).toBe(runsDirectory)

  const onward = await resume({ runsDirectory, message: 'On', runId: result.runId })
  expect(onward).toMatchObject({ status: 'COMPLETED', answer: 'More.', runDirectory: result.runDirectory })
  expect(await eventsOfType(onward, 'ENGINE_START')).toMatchObject([
    { allowed: { import_roots: ['/common'], workspace_env_digest: '0a', runs_dir: runsDirectory } },
    { resumed: true, work_dir: workspace.path },
  ])
  expect((await eventsOfType(onward, 'ENGINE_START'))[1]).not.toHaveProperty('allowed')
  expect(await readdir(workspace.path)).toEqual([])

  await expect(findRun(workspace.path)).rejects.toMatchObject({ code: 'ERR_ENGINE_RUN_NOT_FOUND' })
  await expect(findRun(elsewhere.path, result.runId, { runsDirectory })).rejects.toMatchObject({
    code: 'ERR_ENGINE_OTHER_WORKSPACE',
  })
})

test('a runsDirectory in the workspace is refused, and nothing is made', async () => {
  const { run, resume, workspace } = await scene({})
  const runsDirectory = join(workspace.path, 'runs')
  for (const start of [run({ runsDirectory }), resume({ runsDirectory })])
    await expect(start).rejects.toMatchObject({ code: 'ERR_RUNS_DIRECTORY' })
  expect(await readdir(workspace.path)).toEqual([])
})
