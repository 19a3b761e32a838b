import { expect, test } from 'vitest'
import { waitForFile } from '../../../packages/testkit/dist/index.js'
import { delta, EXAMPLES, resultsOf, startDelta, workspaceOf } from '../../run-example.js'

const AGENT = `${EXAMPLES}1-basics/word-counter`

test('killed in the middle of counting, the word counter goes on and counts no file twice', async () => {
  const workspace = await workspaceOf('1-basics/word-counter', { 'a.txt': 'one two\n', 'b.txt': 'one\n' })
  const run = ['run', '--agent', AGENT, '-w', workspace.path, '-m', 'Count']
  const engine = startDelta(run, { SECONDS_PER_FILE: '1' })
  await waitForFile(`${workspace.path}/counts`, (text) => text.includes('a.txt'))
  engine.kill('SIGKILL')
  await engine.result

  const continued = await delta(['continue', '-w', workspace.path], { SECONDS_PER_FILE: '0' })
  expect(continued).toMatchObject({ exitCode: 0, stdout: 'report.md has the files, the longest first.\n' })
  expect(await workspace.read('report.md')).toBe('2 a.txt\n1 b.txt\n')
  expect((await resultsOf(workspace))[1]?.slice(0, 2)).toEqual(['count_words', 'INTERRUPTED'])
})
