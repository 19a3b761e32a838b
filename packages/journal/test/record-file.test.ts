import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { afterTest, firstEvents, readText, temporaryDirectory } from './helpers.js'
import { createRecordFile, createRun, recordInvocation } from './of-runs.js'

test('a text written over a record is all there is from its place on, and a record is its owner’s only', () => {
  const directory = temporaryDirectory()
  const record = createRecordFile(directory, 'echo', 'room for what comes')
  afterTest(record.close)
  expect(record.path).toMatch(/\d{8}T\d{9}_echo\.json$/)
  expect([readText(record.path), statSync(record.path).mode & 0o777]).toEqual(['room for what comes', 0o600])
  record.write('a fish ', 9)
  expect(readText(record.path)).toBe('room for a fish ')
  record.write('für dich', 5)
  expect(readText(record.path)).toBe('room für dich')
  record.write('{}', 0)
  expect(readText(record.path)).toBe('{}')
})

test('a record is written over where it lies, also after it was closed: none is left beside it', () => {
  const directory = temporaryDirectory()
  const record = createRecordFile(directory, 'echo', 'before')
  const { ino } = statSync(record.path)
  record.close()
  record.write('after', 0)
  record.close()
  expect([statSync(record.path).ino, readText(record.path)]).toEqual([ino, 'after'])
  expect(readdirSync(directory)).toEqual([basename(record.path)])
})

test('a record takes the next millisecond where a clock that was set back gives it a name that is taken', () => {
  const directory = temporaryDirectory()
  const now = Date.now() + 60_000
  const taken = [1, 2, 3].map((ms) => `${stamp(now + ms)}_echo.json`)
  for (const name of taken) writeFileSync(join(directory, name), 'of an earlier process')
  vi.useFakeTimers({ now: now + 1, toFake: ['Date'] })
  afterTest(() => void vi.useRealTimers())
  const record = createRecordFile(directory, 'echo', 'of this one')
  afterTest(record.close)
  expect(basename(record.path)).toBe(`${stamp(now + 4)}_echo.json`)
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
  const record = recordInvocation(run, { iteration: 1, request: { messages: [] } })
  record.complete({ error: 'x'.repeat(1000) })
  record.complete({ response: {} })
  const stored = JSON.parse(readText(join(run.directory, record.ref)))
  expect(stored).toMatchObject({ iteration: 1, response: {} })
  expect(stored).not.toHaveProperty('error')
})

const stamp = (ms: number) => new Date(ms).toISOString().replace(/[-:.Z]/g, '')
