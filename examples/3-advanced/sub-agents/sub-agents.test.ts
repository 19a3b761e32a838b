import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { eventsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '3-advanced/sub-agents'

test('two agents work side by side in directories of a third, and the files were never copied', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const before = await stat(join(workspace.path, 'inbox/north.csv'))
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'How much was sold?')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'report.txt says:\nnorth.csv: 42\nsouth.csv: 8\n',
  })
  expect((await stat(join(workspace.path, 'jobs/north/north.csv'))).ino).toBe(before.ino)
  for (const job of ['north', 'south'])
    expect(await workspace.read(`jobs/${job}/.delta/LATEST`)).toMatch(/^\d{8}_/)

  const order = (await eventsOf(workspace)).flatMap((event) =>
    (event.type === 'ACTION_REQUEST' || event.type === 'ACTION_RESULT') && event.tool_name === 'analyse'
      ? [event.type]
      : [],
  )
  expect(order).toEqual(['ACTION_REQUEST', 'ACTION_REQUEST', 'ACTION_RESULT', 'ACTION_RESULT'])
})
