import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { RunList } from '../src/api.js'
import { called, end, installedChromium, journalOf, servedApart, start, user, workspaceOf } from './runs.js'

// How fast the page is, as people would notice: the figures are printed. The bounds of the tests are those times as long as a machine is
// slower that does other things, too: they find what waits for something that does not come.

const chromiumHere = installedChromium()
const SLACK = 5
const MEGABYTE = 1 << 20

let browser: Browser
beforeAll(async () => {
  if (chromiumHere) browser = await chromium.launch(chromiumHere)
})
afterAll(() => browser?.close())

/** When the page first showed a step, or a later one: `[step, time]`, noted as the document changes. */
type Shown = [n: number, at: number][]

/** A run that goes on, opened at its last step. */
async function following(): Promise<{ page: Page; append(n: number): number; shown(): Promise<Shown> }> {
  const workspace = await workspaceOf({ run: [start(), user('Go.'), ...called(1)] })
  const directory = join(workspace, '.delta', 'run')
  const { url } = await servedApart(workspace, { run: directory })
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
  onTestFinished(() => page.close())
  await page.goto(url)
  await page.getByRole('article', { name: 'Step 1', exact: true }).waitFor()
  await page.evaluate(() => {
    const shown: [number, number][] = []
    Object.assign(window, { shown })
    new MutationObserver(() => {
      const last = [...document.querySelectorAll('article')].at(-1)
      const n = Number(last?.getAttribute('aria-posinset'))
      if (n > (shown.at(-1)?.[0] ?? 1)) shown.push([n, Date.now()])
    }).observe(document.body, { childList: true, subtree: true })
  })
  return {
    page,
    append(n) {
      appendFileSync(join(directory, 'journal.jsonl'), journalOf(called(n), n * 3))
      return Date.now()
    },
    shown: () => page.evaluate(() => (window as unknown as { shown: Shown }).shown),
  }
}

/** How long each step was in the journal before it was on the screen. Milliseconds, ascending. */
function delaysOf(appended: ReadonlyMap<number, number>, shown: Shown): number[] {
  const delays = [...appended].map(([n, at]) => {
    const seen = shown.find(([last]) => last >= n)
    return seen === undefined ? Number.POSITIVE_INFINITY : seen[1] - at
  })
  return delays.sort((one, other) => one - other)
}

describe.skipIf(!chromiumHere)('the pace of the page', () => {
  test('a step that is journaled is on the screen within half a second', async () => {
    const { page, append, shown } = await following()
    const appended = new Map<number, number>()
    for (let n = 2; n <= 51; n++) {
      appended.set(n, append(n))
      await page.getByRole('article', { name: `Step ${n}`, exact: true }).waitFor()
      await wait((n * 37) % 100) // at any time between two looks of the server
    }
    const delays = delaysOf(appended, await shown())
    const p95 = delays[Math.ceil(delays.length * 0.95) - 1] ?? Number.NaN
    console.log(`on screen after ${delays[25]} ms (median), ${p95} ms (p95)`)
    expect(p95).toBeLessThan(500 * SLACK)
  })

  test('a hundred events a second are followed, and the page never lags behind by more than a second', async () => {
    const { page, append, shown } = await following()
    const appended = new Map<number, number>()
    const [seconds, each] = [6, 30]
    const began = performance.now()
    for (let n = 2; n <= (seconds * 1000) / each; n++) {
      appended.set(n, append(n))
      await wait(Math.max(0, began + (n - 1) * each - performance.now()))
    }
    const last = [...appended.keys()].at(-1)
    await page.getByRole('article', { name: `Step ${last}`, exact: true }).waitFor()
    const delays = delaysOf(appended, await shown())
    console.log(`${appended.size * 3} events in ${seconds} s: at most ${delays.at(-1)} ms behind`)
    expect(delays.at(-1)).toBeLessThan(1000 * SLACK)
  })

  test('two thousand runs are listed within a second, with little memory', async () => {
    const steps = Array.from({ length: 30 }, (_, index) => called(index + 1)).flat()
    const events = [start(), user('Go.'), ...steps, end(30)]
    const ids = Array.from({ length: 2000 }, (_, index) => `run${index}`)
    const server = await servedApart(await workspaceOf(Object.fromEntries(ids.map((id) => [id, events]))))
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(server.url)
    await page.getByText('2,000 runs').waitFor()
    await page.locator('.row:not(.head)').first().waitFor()
    const ms = await page.evaluate(() => performance.now())
    console.log(`2,000 runs listed after ${Math.round(ms)} ms`)
    expect(ms).toBeLessThan(1000 * SLACK)
    const { runs } = await server.get<RunList>('/api/runs')
    expect(runs.every(({ status, steps }) => status === 'COMPLETED' && steps === 30)).toBe(true)
    expect((await server.end()) / MEGABYTE).toBeLessThan(200)
  })
})
