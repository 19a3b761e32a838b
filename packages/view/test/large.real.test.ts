import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunList, RunPage, SearchMatch, StepList } from '../src/api.js'
import { called, end, journalOf, place, servedApart, start, user } from './runs.js'

const EVENTS = 100_000
const BYTES = 300_000_000
const STEPS = 33_333
const MEGABYTE = 1 << 20

/** A workspace with a run of a hundred thousand events in 300 MB. */
async function longRun(): Promise<string> {
  const { path } = await place()
  const directory = join(path, '.delta', 'run')
  mkdirSync(directory, { recursive: true })
  const file = openSync(join(directory, 'journal.jsonl'), 'w')
  const filling = 'x'.repeat(79)
  const observation_content = `${filling}\n`.repeat(((BYTES / EVENTS) * 3) / 80)
  writeSync(file, journalOf([start(), user('Go.')]))
  for (let n = 1; n <= STEPS; n++) writeSync(file, journalOf(called(n, { observation_content }), n * 3))
  writeSync(file, journalOf([end(STEPS)], EVENTS + 1))
  closeSync(file)
  return path
}

test('of a run of 300 MB the newest steps come before the rest is read, any step is reached, and memory stays below 200 MB', async () => {
  const { path: assets } = await place({ 'index.html': '<!doctype html>' })
  const server = await servedApart(await longRun(), { assets })
  const { runs } = await server.get<RunList>('/api/runs')
  const path = `/api/runs/${runs[0]?.key}`
  const { steps } = await server.get<StepList>(`${path}/steps`)
  expect([steps[0]?.n, steps.at(-1)?.n]).toEqual([STEPS - 47, STEPS])

  const order: string[] = []
  const whole = server.get<RunPage>(path).finally(() => order.push('whole'))
  const newest = server.ask(`${path}/steps`).finally(() => order.push('newest'))
  const [{ columns }] = [await whole, await newest]
  expect(order).toEqual(['newest', 'whole'])
  expect(columns.length).toBeLessThanOrEqual(1000)
  expect(columns.at(-1)?.to).toBe(STEPS)

  for (let jump = 0; jump < 20; jump++) {
    const after = Math.floor((33_000 * jump) / 20)
    expect((await server.get<StepList>(`${path}/steps?after=${after}`)).steps[0]?.n).toBe(after + 1)
  }
  const found = JSON.parse(
    await server.ask(`${path}/search?q=${encodeURIComponent('thought 30000')}`),
  ) as SearchMatch
  expect(found.n).toBe(30_000)
  expect((await server.end()) / MEGABYTE).toBeLessThan(200)
})
