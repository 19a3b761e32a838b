import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { changedExample, delta, eventsOf, runExample, workspaceOf } from '../../run-example.js'

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

test('a task that looks like a file is told to the analyst as it is', async () => {
  const agent = await changedExample(EXAMPLE, (text) => text)
  const script = await readFile(join(agent, 'script.yaml'), 'utf8')
  await writeFile(
    join(agent, 'script.yaml'),
    script.replace('Summarise north.csv.', '"@north.csv, summarised"'),
  )
  const workspace = await workspaceOf(EXAMPLE)
  await delta(['run', '--agent', agent, '-w', workspace.path, '-m', 'How much?', '--no-sync'])
  const id = (await workspace.read('jobs/north/.delta/LATEST')).trim()
  expect(await workspace.read(`jobs/north/.delta/${id}/journal.jsonl`)).toContain('"@north.csv, summarised"')
})
