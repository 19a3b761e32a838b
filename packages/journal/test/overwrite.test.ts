import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRun, overwriteFile, recordInvocation } from '../src/index.js'
import { afterTest, firstEvents, readText, temporaryDirectory } from './helpers.js'

test('a text written over a file is all there is from its place on, and a missing file is its owner’s only', () => {
  const path = join(temporaryDirectory(), 'record.json')
  overwriteFile(path, 'room for what comes')
  expect([readText(path), statSync(path).mode & 0o777]).toEqual(['room for what comes', 0o600])
  overwriteFile(path, 'a fish ', 9)
  expect(readText(path)).toBe('room for a fish ')
  overwriteFile(path, 'für dich', 5)
  expect(readText(path)).toBe('room für dich')
  overwriteFile(path, '{}', 0)
  expect(readText(path)).toBe('{}')
})

test('a file is written over where it lies: no other has its name, and none is left beside it', () => {
  const path = join(temporaryDirectory(), 'record.json')
  writeFileSync(path, 'before', { mode: 0o640 })
  const { ino, mode } = statSync(path)
  overwriteFile(path, 'after')
  expect(statSync(path)).toMatchObject({ ino, mode })
  expect(readdirSync(join(path, '..'))).toEqual(['record.json'])
})

test('a record that is completed a second time holds the second response, however short it is', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(run.close)
  const record = recordInvocation(run, { iteration: 1, request: { messages: [] } })
  record.complete({ error: 'x'.repeat(1000) })
  record.complete({ response: {} })
  const stored = JSON.parse(readText(join(run.directory, record.ref)))
  expect(stored).toMatchObject({ iteration: 1, response: {} })
  expect(stored).not.toHaveProperty('error')
})
