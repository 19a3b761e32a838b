import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  changedExample,
  delta,
  EXAMPLES,
  resultsOf,
  runExample,
  startDelta,
  workspaceOf,
} from '../../run-example.js'

const EXAMPLE = '2-core-features/interactive-shell'
const TASK = 'How many errors are in each log?'

test('directory, variable and function of one command are there in the next', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode, stdout } = await runExample(EXAMPLE, workspace, TASK)
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'Errors in each log:\napi.log 2\nweb.log 0\n' })

  const results = await resultsOf(workspace)
  expect(results.map(([, status]) => status)).toEqual(Array(5).fill('SUCCESS'))
  expect(JSON.parse(results[3]?.[2] ?? '')).toMatchObject({
    stdout: `${workspace.path}/logs\napi.log 2\nweb.log 0\n`,
    exit_code: 0,
  })
})

test('a session that the model forgot to end is ended with the run', async () => {
  const forgetful = await changedExample(EXAMPLE, (yaml) =>
    yaml.replace('exec: delta-sessions end', `exec: printf '{"id":"%s"}'`),
  )
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode } = await delta(['run', '--agent', forgetful, '-w', workspace.path, '-m', TASK])
  expect(exitCode).toBe(0)
  expect(
    await workspace.files().then((files) => files.filter((file) => /^\.sessions\/sess_/.test(file))),
  ).toEqual([])
})

test('a run that was killed goes on with the same session', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const engine = startDelta(['run', '--agent', join(EXAMPLES, EXAMPLE), '-w', workspace.path, '-m', TASK])
  await engine.waitForOutput('4. All three', { stream: 'stderr' }) // the function is defined
  engine.kill('SIGKILL')
  expect((await engine.result).signal).toBe('SIGKILL')

  const { stdout } = await delta(['continue', '-w', workspace.path])
  expect(stdout).toBe('Errors in each log:\napi.log 2\nweb.log 0\n')
})
