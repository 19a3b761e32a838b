import { expect, test } from 'vitest'
import { delta, resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '3-advanced/delta-agent-generator'

test('an agent writes an agent, mends what the check found, tries it, and it works by itself', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'I need an agent that counts TODOs.')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'The agent is in todo-counter. Tried on two TODOs, it counted 2.\n',
  })
  const checks = (await resultsOf(workspace)).filter(([tool]) => tool === 'check_agent')
  expect(checks.map(([, status]) => status)).toEqual(['FAILED', 'SUCCESS'])
  expect(checks[0]?.[2]).toContain("Shell metacharacter '|' not allowed in exec: mode.")

  await workspace.write('elsewhere/a.c', '// TODO\n')
  const [agent, elsewhere] = ['todo-counter', 'elsewhere'].map((name) => `${workspace.path}/${name}`)
  expect(await delta(['run', '--agent', `${agent}`, '-w', `${elsewhere}`, '-m', 'How much?'])).toMatchObject({
    exitCode: 0,
  })
  expect(await workspace.read('elsewhere/todo-count.txt')).toBe('1\n')
})
