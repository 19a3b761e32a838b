import { expect, test } from 'vitest'
import { resultsOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '1-basics/file-reader'

test('a file that is not there is something the model reads, and the run goes on to the answer', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, 'When is the meeting?')
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout:
      'The notes say:\nThe meeting is on Thursday at ten, in the small room.\nBring the figures of last year.\n',
  })
  const [list, missing, found] = await resultsOf(workspace)
  expect(list?.[2].split('\n').sort()).toEqual(['', './notes/2026-02.txt', './notes/2026-03.txt'])
  expect(missing?.slice(0, 2)).toEqual(['read_file', 'FAILED'])
  expect(missing?.[2]).toMatch(/^\[exit code 1\]\n\[stderr\]\ncat: .*meeting\.txt/)
  expect(found?.[2]).toBe('./notes/2026-03.txt:3:The meeting is on Thursday at ten, in the small room.\n')
})
