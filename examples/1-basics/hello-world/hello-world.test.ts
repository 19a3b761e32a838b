import { expect, test } from 'vitest'
import { runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '1-basics/hello-world'

test('the first example counts, writes a report and says how long it is', async () => {
  const workspace = await workspaceOf(EXAMPLE, { 'a.md': 'one\n', 'b.md': 'one two three\n' })
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'Which files are the longest?')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: 'Done. report.md has 4 lines and names the longest files of this workspace.\n',
  })
  const report = await workspace.read('report.md')
  expect(report).toMatch(/^# The longest files\n\n\s*3 \.\/b\.md\n\s*1 \.\/a\.md\n$/)
})
