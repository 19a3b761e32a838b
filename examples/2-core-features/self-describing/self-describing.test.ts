import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { quoteCommand } from '../../../packages/executor/dist/index.js'
import { type TemporaryWorkspace, temporaryWorkspace } from '../../../packages/testkit/dist/index.js'
import { delta, EXAMPLES, resultsOf, runDirectoryOf, runExample, workspaceOf } from '../../run-example.js'

const EXAMPLE = '2-core-features/self-describing'
const HOME = join(EXAMPLES, EXAMPLE)
/** As a shell takes it, also where the path of this clone has a space. */
const NOTES = quoteCommand([join(HOME, 'notes')])
const WRITTEN = "[shopping] Don't forget the milk; $(it is out)\n"
const BEFORE = `[work] Call the bank\n[home] Water the plants\n${WRITTEN}`

async function requestIn(workspace: TemporaryWorkspace): Promise<Record<string, string>> {
  const path = join(await runDirectoryOf(workspace), 'interaction/request.json')
  return JSON.parse(await readFile(path, 'utf8'))
}

async function waiting(agent = HOME): Promise<{ workspace: TemporaryWorkspace; id: string }> {
  const workspace = await workspaceOf(EXAMPLE)
  const run = await delta(['run', '--agent', agent, '-w', workspace.path, '-m', 'Tidy up.', '--no-sync'])
  expect(run.exitCode).toBe(101)
  return { workspace, id: (await requestIn(workspace)).request_id ?? '' }
}

const decide = (workspace: TemporaryWorkspace, ...decision: string[]) =>
  delta(['continue', '-w', workspace.path, ...decision])

test('the description in the example is what the program says of itself', async () => {
  const copy = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await cp(HOME, copy.path, { recursive: true })
  const file = join(copy.path, 'notes.atip.json')
  const imported = await delta(['tool', 'import', join(copy.path, 'notes'), '-o', file])
  expect(imported.stderr).toContain('- { atip: ./notes.atip.json, trust: user }')
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(
    JSON.parse(await readFile(join(HOME, 'notes.atip.json'), 'utf8')),
  )
})

test('its destructive command waits, shown as it would be typed, with its effects and the reasons', async () => {
  const workspace = await workspaceOf(EXAMPLE)
  const { exitCode, stderr } = await runExample(EXAMPLE, workspace, 'Tidy up.')
  expect(exitCode).toBe(101)
  expect(stderr).toContain(`  ${NOTES} wipe --tag work\nAsked because of: destructive\n`)
  expect(await requestIn(workspace)).toMatchObject({
    tool_name: 'notes_wipe',
    command: `${NOTES} wipe --tag work`,
    reasons: ['destructive'],
    effects: { destructive: true, reversible: false, network: false },
  })
  expect(await workspace.read('notes.txt')).toBe(BEFORE)
})

test('an approval runs exactly that command, and only once', async () => {
  const { workspace, id } = await waiting()
  expect(await decide(workspace, '--approve', id)).toMatchObject({ exitCode: 0, stdout: 'Wiped: work.\n' })
  expect(await workspace.read('notes.txt')).toBe(`[home] Water the plants\n${WRITTEN}`)
  expect(await decide(workspace, '--approve', id)).toMatchObject({ exitCode: 2 })
  const wipes = (await resultsOf(workspace)).filter(([tool]) => tool === 'notes_wipe')
  expect(wipes).toEqual([['notes_wipe', 'SUCCESS', 'Wiped: work.\n']])
})

test('a refusal leaves everything as it was, and the model reads it', async () => {
  const { workspace, id } = await waiting()
  expect((await decide(workspace, '--deny', id)).stdout).toContain('said no')
  expect(await workspace.read('notes.txt')).toBe(BEFORE)
})

test('what was changed after the question is not what was approved: it is asked about again', async () => {
  const agent = await temporaryWorkspace({}, { onCleanup: onTestFinished })
  await cp(HOME, agent.path, { recursive: true })
  const { workspace, id } = await waiting(agent.path)
  const description = JSON.parse(await agent.read('notes.atip.json'))
  description.commands.wipe.options[0].flags = ['--everything']
  await agent.write('notes.atip.json', JSON.stringify(description))

  const again = await decide(workspace, '--approve', id)
  expect(again.exitCode).toBe(101)
  expect(again.stderr).toContain('The command has changed since it was approved')
  expect(again.stderr).toContain('notes wipe --everything work\n')
  expect((await requestIn(workspace)).request_id).not.toBe(id)
  expect(await workspace.read('notes.txt')).toBe(BEFORE)
})
