import { expect, test } from 'vitest'
import { readRequest } from '../../../packages/journal/dist/runs.js'
import { runDirectoryOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '3-advanced/research-agent'
const TASK = 'Does mulch raise the yield?'

test('documents leave the context after two steps, notes and the task stay', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode } = await runExample(EXAMPLE, workspace, TASK)
  expect(exitCode).toBe(0)
  expect(await workspace.read('report.md')).toContain('by 12 percent [sources/trial-2024.txt]')

  const run = await runDirectoryOf(workspace)
  const requests = await Promise.all([1, 2, 3, 4, 5, 6, 7].map((iteration) => readRequest(run, iteration)))
  const seenIn = (text: string) => requests.flatMap((body, at) => (body.includes(text) ? [at + 1] : []))
  expect(seenIn(TASK)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(seenIn('Forty plots')).toEqual([3, 4])
  expect(seenIn('* Mulch raised the yield by 12 percent')).toEqual([4, 5, 6, 7])
})
