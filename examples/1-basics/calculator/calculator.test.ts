import { expect, test } from 'vitest'
import { eventsOf, resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '1-basics/calculator'

test('numbers arrive as arguments, on stdin and as an option, and a word instead of a number runs nothing', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'What do three packs cost?')
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Three packs cost 34.54.\n' })

  const [refused, ...results] = await resultsOf(workspace)
  expect(refused?.slice(0, 2)).toEqual(['multiply', 'ERROR'])
  expect(refused?.[2]).toContain('"a"')
  expect(results.map(([, , observation]) => observation)).toEqual([
    '37.035\n',
    '34.535\n',
    '-34.5\n',
    '34.54\n',
  ])

  const argvs = (await eventsOf(workspace)).flatMap((event) =>
    event.type === 'ACTION_REQUEST' ? [event.argv?.slice(2) ?? null] : [],
  )
  expect(argvs).toEqual([
    null,
    ['3', '12.345'],
    [],
    ['-34.535', '--digits', '1'],
    ['34.535001', '--digits', '2'],
  ])
})
