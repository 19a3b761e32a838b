import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryAgent, temporaryWorkspace } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { delta, journalOf } from './delta.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const bytes = Buffer.from(PNG, 'base64')
const blob = createHash('sha256').update(bytes).digest('hex')

test('a tool that prints a picture leaves it in io/blobs, and show says where it stood', async () => {
  const agent = await temporaryAgent({
    tools: [{ name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' }],
    turns: [{ tool_calls: [{ name: 'shot', arguments: {} }] }, { content: 'Done.' }],
    onCleanup: onTestFinished,
  })
  await using workspace = await temporaryWorkspace({})
  const ran = await delta(['run', '--agent', agent.path, '-m', 'Go', '-w', workspace.path])
  expect(ran).toMatchObject({ exitCode: 0 })
  const result = (await journalOf(workspace.path)).find(({ type }) => type === 'ACTION_RESULT')
  expect(result).toMatchObject({
    parts: [{ type: 'image', blob, media_type: 'image/png', bytes: 70, width: 1, height: 1 }],
  })
  const runId = (await readFile(join(workspace.path, '.delta/LATEST'), 'utf8')).trim()
  const kept = await readFile(join(workspace.path, '.delta', runId, 'io/blobs', blob))
  expect(bytes.equals(kept)).toBe(true)
  const shown = await delta(['show', '-w', workspace.path])
  expect(shown.stdout).toContain('[image image/png 1x1, 70 bytes]')
})

test('delta tool lint says what output may be', async () => {
  const agent = await temporaryAgent({
    tools: [{ name: 'shot', exec: 'shot', output: 'picture' }] as never,
    onCleanup: onTestFinished,
  })
  const { stdout, stderr, exitCode } = await delta(['tool', 'lint', agent.path])
  expect(exitCode).not.toBe(0)
  expect(stdout + stderr).toContain('must be one of text, image, file, auto, mcp, got "picture"')
})
