import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { areInstalled } from '../../../packages/testkit/dist/index.js'
import { changedExample, delta, resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/audit-log'
const TASK = 'Switch debugging on.'

test.skipIf(!areInstalled('jq'))(
  'a guard refuses a command by its arguments, and what ran is kept in a log',
  async () => {
    const workspace = await workspaceOf(EXAMPLE)
    const { exitCode } = await runExample(EXAMPLE, workspace, TASK)
    expect(exitCode).toBe(0)
    expect(await workspace.read('config/app.ini')).toBe('debug = false\n')
    expect(workspace.has('debug-proposal.txt')).toBe(true)
    expect((await resultsOf(workspace)).map(([, status]) => status)).toEqual([
      'BLOCKED',
      'SUCCESS',
      'SUCCESS',
    ])

    const lines = (await workspace.read('audit.jsonl')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line).command)).toEqual([
      'tee proposal.txt',
      'mv proposal.txt debug-proposal.txt',
    ])
  },
)

test('a guard that crashes opens no door', async () => {
  const agent = await changedExample(EXAMPLE, (yaml) => yaml)
  await writeFile(join(agent, 'hooks/guard.sh'), 'exit 1\n')
  const workspace = await workspaceOf(EXAMPLE)
  await delta(['run', '--agent', agent, '-w', workspace.path, '-m', TASK])
  expect((await resultsOf(workspace)).map(([, status]) => status)).toEqual(['BLOCKED', 'BLOCKED', 'BLOCKED'])
  expect(workspace.has('proposal.txt')).toBe(false)
})
