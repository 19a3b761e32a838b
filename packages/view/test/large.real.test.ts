import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { startProcess } from '@delta/testkit'
import { expect, onTestFinished, test } from 'vitest'
import type { RunList, RunPage, SearchMatch, StepList } from '../src/api.js'
import { called, end, journalOf, place, start, user, workspaceOf } from './runs.js'

const EVENTS = 100_000
const BYTES = 300_000_000
const STEPS = 33_333
const MEGABYTE = 1 << 20

/** The server in a process of its own, whose memory is measured: it prints its address, and when it is ended the most it had. */
async function servedApart(directory: string) {
  const { path } = await place({ 'assets/index.html': '<!doctype html>' })
  const program = `
    import { serve } from '@delta/view'
    const { url } = await serve(${JSON.stringify({ places: [directory], assets: join(path, 'assets') })})
    console.log('at', url)
    process.on('SIGTERM', () => { console.log('most', process.resourceUsage().maxRSS); process.exit() })`
  const started = startProcess([process.execPath, '--input-type=module', '-e', program], {
    cwd: import.meta.dirname,
  })
  onTestFinished(() => started.kill('SIGKILL'))
  const [, url = ''] = /at (\S+)/.exec(await started.waitForOutput(/at \S+\n/)) ?? []
  const [, token = ''] = /#t=([\w-]+)/.exec(url) ?? []
  const ask = async (route: string) => {
    const headers = { authorization: `Bearer ${token}` }
    return (await fetch(new URL(route, url), { headers })).text()
  }
  return {
    ask,
    get: async <Value>(route: string) => JSON.parse(await ask(route)) as Value,
    /** Ends it. @returns The most memory that it had. Bytes. */
    async end() {
      started.kill('SIGTERM')
      const { stdout } = await started.result
      return Number(/most (\d+)/.exec(stdout)?.[1]) * 1024
    },
  }
}

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
  const server = await servedApart(await longRun())
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

test('two thousand runs are listed with little memory', async () => {
  const events = [
    start(),
    user('Go.'),
    ...Array.from({ length: 30 }, (_, index) => called(index + 1)).flat(),
    end(30),
  ]
  const ids = Array.from({ length: 2000 }, (_, index) => `run${index}`)
  const server = await servedApart(await workspaceOf(Object.fromEntries(ids.map((id) => [id, events]))))
  const { runs } = await server.get<RunList>('/api/runs')
  expect(runs).toHaveLength(2000)
  expect(runs.every(({ status, steps }) => status === 'COMPLETED' && steps === 30)).toBe(true)
  expect((await server.end()) / MEGABYTE).toBeLessThan(200)
})
