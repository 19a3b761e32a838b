import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { afterTest, firstEvents, readText, temporaryDirectory } from './helpers.js'
import { createRecordFile, createRun, overwriteRecord } from './of-runs.js'

test('a record is its owner’s only, and named by its time and label', () => {
  const path = createRecordFile(temporaryDirectory(), 'echo', 'room for what comes')
  expect(path).toMatch(/\d{8}T\d{9}_echo\.json$/)
  expect([readText(path), statSync(path).mode & 0o777]).toEqual(['room for what comes', 0o600])
})

test('a record is written over where it lies: none is left beside it', () => {
  const directory = temporaryDirectory()
  const path = createRecordFile(directory, 'echo', 'longer than what comes')
  const { ino } = statSync(path)
  overwriteRecord(path, 'für dich')
  expect([statSync(path).ino, readText(path)]).toEqual([ino, 'für dich'])
  expect(readdirSync(directory)).toEqual([basename(path)])
})

test('a record takes the next millisecond where a clock that was set back gives it a name that is taken', () => {
  const directory = temporaryDirectory()
  const now = Date.now() + 60_000
  const taken = [1, 2, 3].map((ms) => `${stamp(now + ms)}_echo.json`)
  for (const name of taken) writeFileSync(join(directory, name), 'of an earlier process')
  vi.useFakeTimers({ now: now + 1, toFake: ['Date'] })
  afterTest(() => void vi.useRealTimers())
  const path = createRecordFile(directory, 'echo', 'of this one')
  expect(basename(path)).toBe(`${stamp(now + 4)}_echo.json`)
  expect(taken.map((name) => readText(join(directory, name)))).toEqual(
    taken.map(() => 'of an earlier process'),
  )
})

test('a record that cannot be made says why', () => {
  const directory = join(temporaryDirectory(), 'missing')
  expect(() => createRecordFile(directory, 'echo', '')).toThrowError(/its directory does not exist/)
})

test('a record that is completed a second time holds the second response, however short it is', async () => {
  const run = await createRun(temporaryDirectory(), { events: firstEvents })
  afterTest(run.close)
  const record = run.requests.record({ iteration: 1, request: { messages: [] } })
  record.complete({ error: 'x'.repeat(1000) })
  record.complete({ response: {} })
  const stored = JSON.parse(readText(join(run.directory, record.ref)))
  expect(stored).toMatchObject({ iteration: 1, response: {} })
  expect(stored).not.toHaveProperty('error')
})

const stamp = (ms: number) => new Date(ms).toISOString().replace(/[-:.Z]/g, '')
