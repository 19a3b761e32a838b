import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TemporaryWorkspace } from '../../../packages/testkit/dist/index.js'
import { delta, eventsOf, resultsOf, runDirectoryOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/human-approval'

async function pendingRequest(workspace: TemporaryWorkspace): Promise<Record<string, unknown>> {
  const path = join(await runDirectoryOf(workspace), 'interaction/request.json')
  return JSON.parse(await workspace.read(path.slice(workspace.path.length + 1)))
}

test('a file is deleted only after a person approved exactly that command', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  expect(await runExample(EXAMPLE, workspace, 'Make room.')).toMatchObject({ exitCode: 101 })
  expect(await pendingRequest(workspace)).toMatchObject({
    prompt: 'Which of these may go: the backup or the report?',
  })

  expect(await delta(['continue', '-w', workspace.path, '-m', 'the backup'])).toMatchObject({ exitCode: 101 })
  const { request_id, command } = await pendingRequest(workspace)
  expect(command).toBe('rm -- backup.tar')

  expect(await delta(['continue', '-w', workspace.path, '-m', 'yes'])).toMatchObject({ exitCode: 101 })
  expect(workspace.has('backup.tar')).toBe(true)

  const approved = await delta(['continue', '-w', workspace.path, '--approve', String(request_id)])
  expect(approved).toMatchObject({ exitCode: 0, stdout: 'Tidied.\n' })
  expect(workspace.has('backup.tar')).toBe(false)
  expect(workspace.has('report.txt')).toBe(true)
  expect(
    (await eventsOf(workspace)).map(({ type }) => type).filter((type) => /HUMAN|REQUEST/.test(type)),
  ).toEqual([
    ...['ACTION_REQUEST', 'ACTION_REQUEST', 'HUMAN_INPUT_REQUEST', 'HUMAN_INPUT_RECEIVED'],
    ...['HUMAN_INPUT_REQUEST', 'HUMAN_INPUT_RECEIVED', 'ACTION_REQUEST'],
  ])
})

test('a refusal is something the model reads', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  await runExample(EXAMPLE, workspace, 'Make room.')
  await delta(['continue', '-w', workspace.path, '-m', 'the backup'])
  const { request_id } = await pendingRequest(workspace)
  await delta(['continue', '-w', workspace.path, '--deny', String(request_id)])
  expect(workspace.has('backup.tar')).toBe(true)
  expect((await resultsOf(workspace)).at(-1)).toEqual([
    'delete_file',
    'BLOCKED',
    'A person was asked and said no. The command was not run.',
  ])
})
