import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readBlob } from '@delta/journal/runs'
import { startProcess } from '@delta/testkit'
import { expect, test } from 'vitest'
import type { RunResult } from '../src/index.js'
import { calls, eventsOfType, hooks, output, PROGRAM, scene } from './run.js'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const bytes = Buffer.from(PNG, 'base64')
const sha256 = createHash('sha256').update(bytes).digest('hex')
const part = { type: 'image', blob: sha256, media_type: 'image/png', bytes: 70, width: 1, height: 1 }
const shot = { name: 'shot', shell: `echo ${PNG} | base64 -d`, output: 'image' } as const
const turns = [calls('shot'), { content: 'Done.' }]

async function resultsOf(result: RunResult) {
  return (await eventsOfType(result, 'ACTION_RESULT')) as Record<string, unknown>[]
}

test('the picture of a tool is in io/blobs once, and each result that shows it names it', async () => {
  const play = await scene({ turns: [calls('shot', 'shot'), { content: 'Done.' }], tools: [shot] })
  const result = await play.run()
  const [first, second] = await resultsOf(result)
  const shown = { observation_content: '[image image/png 1x1, 70 bytes]\n', parts: [part] }
  expect(first).toMatchObject({ status: 'SUCCESS', ...shown })
  expect(second).toMatchObject(shown)
  expect(await readdir(join(result.runDirectory, 'io/blobs'))).toEqual([sha256])
  expect(bytes.equals(readBlob(result.runDirectory, sha256))).toBe(true)
})

test('a tool that prints text has no parts, and the run no directory for them', async () => {
  const play = await scene({ turns, tools: [{ name: 'shot', exec: 'echo text', output: 'auto' }] })
  const result = await play.run()
  expect((await resultsOf(result))[0]).not.toHaveProperty('parts')
  expect(await readdir(join(result.runDirectory, 'io'))).not.toContain('blobs')
})

test('killed with -9 between the picture and its result, a run goes on: the call is reported as interrupted, or runs again', async () => {
  for (const on_interrupt of ['report', 'rerun']) {
    const play = await scene({ turns, tools: [{ ...shot, on_interrupt }] })
    const preload = fileURLToPath(new URL('./kill-at-blob.mjs', import.meta.url))
    const argv = [process.execPath, '--import', preload, PROGRAM, play.agentFiles.path, play.workspace.path]
    const { signal } = await startProcess(argv, { env: { PATH: process.env.PATH ?? '' } }).result
    expect(signal).toBe('SIGKILL')
    const result = await play.resume()
    expect(result.status).toBe('COMPLETED')
    const [shown, ...others] = await resultsOf(result)
    expect(others).toEqual([])
    if (on_interrupt === 'rerun') expect(shown).toMatchObject({ status: 'SUCCESS', parts: [part] })
    else expect([shown?.status, shown?.parts]).toEqual(['INTERRUPTED', undefined])
    expect(await readdir(join(result.runDirectory, 'io/blobs'))).toEqual([sha256])
  }
})

test('a hook behind the tool gets the text, with a line where the picture stands, and may replace it', async () => {
  const script = `cp "$DELTA_HOOK_IO_PATH/input/payload.dat" seen.txt; ${output('payload_override.dat', 'no pictures')}`
  const play = await scene({ turns, tools: [shot], files: hooks({ post_tool_execution: script }) })
  const result = await play.run()
  expect(await readFile(join(play.workspace.path, 'seen.txt'), 'utf8')).toBe(
    '[image image/png 1x1, 70 bytes]\n',
  )
  const [audit] = await eventsOfType(result, 'HOOK_EXECUTION_AUDIT')
  expect(audit).toMatchObject({ observation_override: 'no pictures\n' })
  expect(await resultsOf(result)).toMatchObject([{ parts: [part] }])
})
