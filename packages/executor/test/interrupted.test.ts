import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defineTool, interruptedResult, removeInlined } from '../src/index.js'
import { workspace } from './workspace.js'

const tool = defineTool({ name: 'deploy', exec: 'deploy', output: { max_chars: 60 } })
const unknown =
  'interrupted: the engine stopped while this command ran, so its outcome is unknown; it may have done all, part or none of its work. Check before running it again.'

test('a call whose engine died is answered with what it had printed', async () => {
  const { path, files } = await workspace({
    'record.stdout': 'uploading key-123\n',
    'record.stderr': 'slow\n',
  })
  const outputPrefix = join(path, 'record')
  const result = interruptedResult(tool, {
    workDirectory: path,
    outputPrefix,
    credentials: { DELTA_API_KEY: 'key-123' },
  })

  expect(result).toEqual({
    status: 'INTERRUPTED',
    exitCode: null,
    signal: null,
    observation: `[${unknown} What it had printed follows]\nuploading [REDACTED]\n[stderr]\nslow\n`,
    durationMs: 0,
    stdout: { bytes: 18, text: 'uploading [REDACTED]\n' },
    stderr: { bytes: 5, text: 'slow\n' },
  })
  expect(await files()).toEqual(['record.stderr', 'record.stdout']) // a second crash loses nothing
  removeInlined(outputPrefix, result)
  expect(await files()).toEqual([])
})

test('of a call without output nobody says that it printed nothing: a power cut may have taken what it did', async () => {
  const { path } = await workspace()
  const result = interruptedResult(tool, { workDirectory: path, outputPrefix: join(path, 'record') })
  expect(result.observation).toBe(`[${unknown} No output of it is left]\n`)
})

test('a call that was still running when it was found is said to have been ended', async () => {
  const { path } = await workspace()
  const context = { workDirectory: path, outputPrefix: join(path, 'record'), wasRunning: true }
  expect(interruptedResult(tool, context).observation).toContain(
    'all, part or none of its work. It was still running and has been ended. Check before running it again.',
  )
})

test('a long output is cut, and its file kept', async () => {
  const { path, has } = await workspace({ 'record.stdout': `${'line\n'.repeat(20_000)}` })
  const outputPrefix = join(path, 'record')
  const result = interruptedResult(tool, { workDirectory: path, outputPrefix })
  removeInlined(outputPrefix, result)
  expect(result.stdout).toEqual({ bytes: 100_000, path: `${outputPrefix}.stdout` })
  expect(result.observation).toContain('[99940 bytes left out here; all 100000 bytes are in record.stdout]')
  expect(has('record.stdout')).toBe(true)
})
