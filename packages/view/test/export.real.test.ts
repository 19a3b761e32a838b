import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openTrace } from '@delta/trace'
import { type ExportedHtml, type ExportHtmlOptions, exportHtml } from '@delta/view'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  called,
  end,
  installedChromium,
  journalOf,
  place,
  type Said,
  start,
  thought,
  user,
  workspaceOf,
} from './runs.js'

const chromiumHere = installedChromium()

let browser: Browser
beforeAll(async () => {
  if (chromiumHere) browser = await chromium.launch(chromiumHere)
})
afterAll(() => browser?.close())

interface Exported extends ExportedHtml {
  html: string
  /** Of the file. */
  url: string
}

/** The file of some runs of a workspace, in the order in which they are named. */
async function exported(
  workspace: string,
  names: readonly string[],
  options: ExportHtmlOptions = {},
): Promise<Exported> {
  const traces = await Promise.all(names.map((name) => openTrace(join(workspace, '.delta', name))))
  const page = exportHtml(traces, options)
  let html = ''
  for (;;) {
    const { done, value } = await page.next()
    if (!done) {
      html += value
      continue
    }
    const path = join((await place()).path, 'run.html')
    writeFileSync(path, html)
    return { ...value, html, url: pathToFileURL(path).href }
  }
}

interface Opened {
  page: Page
  /** What a browser says when something is wrong, and every request but that of the file. */
  problems: string[]
}

async function opened(url: string, { javaScriptEnabled = true } = {}): Promise<Opened> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, javaScriptEnabled })
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const problems: string[] = []
  page.on(
    'console',
    (message) => void (/error|warning/.test(message.type()) && problems.push(message.text())),
  )
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('dialog', (dialog) => void problems.push(`dialog: ${dialog.message()}`))
  page.on('request', (request) => {
    if (request.url() !== url.split('#')[0] && request.url() !== url && !request.url().startsWith('data:'))
      problems.push(`request: ${request.url()}`)
  })
  await page.goto(url)
  return { page, problems }
}

const ONE_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const step = (page: Page, n: number) => page.getByRole('article', { name: `Step ${n}`, exact: true })

function stepsOf(count: number): Said[] {
  const steps = Array.from({ length: count - 1 }, (_, index) =>
    called(index + 1, index === 19 ? { status: 'FAILED', exit_code: 1 } : {}),
  )
  return [
    start(),
    user('Fix the failing test.'),
    ...steps.flat(),
    thought(count, { content: 'All is well.' }),
    end(count),
  ]
}

test('the file of a run without steps is smaller than 200 kB', async () => {
  const workspace = await workspaceOf({ empty: [start(), user('Go.')] })
  const { html, steps } = await exported(workspace, ['empty'])
  expect(Buffer.byteLength(html)).toBeLessThanOrEqual(200_000)
  expect(steps).toBe(0)
})

test('a file refers to nothing outside', async () => {
  const workspace = await workspaceOf({ empty: [start(), user('Go.')] })
  const { html } = await exported(workspace, ['empty'])
  const names = html.replace(/http:\/\/www\.w3\.org\/(1998\/Math\/MathML|1999\/xhtml|2000\/svg)/g, '') // of XML
  expect(names.match(/https?:|\bsrc=|\bhref=|url\(|@import|<link|<base/g)).toBeNull()
  expect(html).toContain("default-src 'none'; script-src 'sha256-")
  expect(html).not.toContain("'unsafe-")
})

test('texts of more than 16 KiB are shortened and counted, and whole with `full`', async () => {
  const long = 'x'.repeat(20_000)
  const workspace = await workspaceOf({ long: [start(), user('Go.'), thought(1, { content: long }), end(1)] })
  const short = await exported(workspace, ['long'])
  expect(short.html).not.toContain(long)
  expect(short.shortened).toBeGreaterThan(0)
  const full = await exported(workspace, ['long'], { full: true })
  expect(full.html).toContain(long)
  expect(full.shortened).toBe(0)
})

test('with `redact` what looks like a secret and the home directory are replaced', async () => {
  const key = `sk-${'proj'}-${'a1B2c3D4'.repeat(6)}`
  const said = user(`The key is ${key}, in /home/ann/notes.`)
  const workspace = await workspaceOf({ run: [start(), said, thought(1), end(1)] })
  const { html } = await exported(workspace, ['run'], { redact: true, home: '/home/ann' })
  expect(html).not.toContain(key)
  expect(html).toContain('in ~/notes.')
})

test('a run that goes on is in the file up to its last whole line', async () => {
  const workspace = await workspaceOf({ run: [start(), user('Go.'), ...called(1)] })
  appendFileSync(join(workspace, '.delta/run/journal.jsonl'), '{"seq":99,"type":"THO')
  const { steps, html } = await exported(workspace, ['run'])
  expect(steps).toBe(1)
  expect(html).toContain('result 1')
})

describe.skipIf(!chromiumHere)('an exported file in a browser', () => {
  test('opens from the disk on its run, with a clean console and without any request', async () => {
    const workspace = await workspaceOf({ forty: stepsOf(40) })
    const { url, steps } = await exported(workspace, ['forty'])
    expect(steps).toBe(40)
    const { page, problems } = await opened(url)
    await step(page, 40).waitFor()
    expect(new URL(page.url()).hash).toBe('#/run/r1')
    await page.keyboard.press('K') // the failure before
    await step(page, 20).waitFor()
    await page.keyboard.press('5')
    await page.getByText('As the model reads it').waitFor()
    for (const key of ['1', '2', '3', '4', '6', 'c', 'Escape', '?', 'Escape']) await page.keyboard.press(key)
    await page.getByText('This file holds 1 run as of').waitFor()
    expect(problems).toEqual([])
  })

  test('the steps of a long run are in several islands, and each can be jumped to and searched', async () => {
    const workspace = await workspaceOf({ long: stepsOf(450) })
    const { url, html } = await exported(workspace, ['long'])
    expect(html.match(/data-delta="steps r1 \d+"/g)).toHaveLength(3)
    const { page, problems } = await opened(`${url}#/run/r1/step/7`)
    await step(page, 7).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('thought 333')
    await page.getByText('1 match', { exact: false }).first().waitFor()
    await page.keyboard.press('Enter')
    await step(page, 333).waitFor()
    expect(problems).toEqual([])
  })

  test('a file compares its first run with each of the others, and says so', async () => {
    const other = stepsOf(6)
    Object.assign(other[5] ?? {}, { content: 'something else' })
    const workspace = await workspaceOf({ a: stepsOf(5), b: other, c: stepsOf(4) })
    const { url, runs } = await exported(workspace, ['a', 'b', 'c'])
    expect(runs).toBe(3)
    const { page, problems } = await opened(`${url}#/diff/r1/r2`)
    await page.getByText('first divergence', { exact: false }).waitFor()
    await page.getByText('It compares a with each of the others.').waitFor()
    await page.keyboard.press('d') // the other way round
    await expect.poll(() => new URL(page.url()).hash).toBe('#/diff/r2/r1')
    await page.getByText('first divergence', { exact: false }).waitFor()
    await page.evaluate(() => location.assign('#/diff/r2/r3'))
    await page.getByText('This file does not compare these two runs.').waitFor()
    expect(problems).toEqual([])
  })

  test('sub-agents open in place, and images are in the file', async () => {
    const image = Buffer.from(ONE_PIXEL, 'base64')
    const blob = createHash('sha256').update(image).digest('hex')
    const plot = { type: 'image', media_type: 'image/png', bytes: image.length, blob, name: 'plot.png' }
    const said = user('', { content: [{ type: 'text', text: 'How much was sold?' }, plot] })
    const child = [
      start({ run_id: 'child', task: 'Add up.', agent_name: 'analyst', parent_run: 'lead' }),
      thought(1, { content: 'It is 42.' }),
      end(1, { run_id: 'child' }),
    ]
    const workspace = await workspaceOf({ child })
    const child_runs = [{ run_id: 'child', directory: join(workspace, '.delta/child') }]
    const lead = [start({ run_id: 'lead' }), said, ...called(1, { child_runs }), thought(2), end(2)]
    const blobs = join(workspace, '.delta/lead/io/blobs')
    mkdirSync(blobs, { recursive: true })
    writeFileSync(join(blobs, blob), image)
    writeFileSync(join(workspace, '.delta/lead/journal.jsonl'), journalOf(lead))
    const { url, subAgents } = await exported(workspace, ['lead'])
    expect(subAgents).toBe(1)
    const { page, problems } = await opened(`${url}#/run/r1/step/1`)
    const picture = step(page, 1).getByRole('img', { name: 'plot.png' })
    await picture.waitFor()
    expect(await picture.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1)
    await step(page, 1).getByRole('button', { name: 'analyst' }).click()
    await page.getByText('It is 42.').waitFor()
    await step(page, 1).getByRole('link', { name: 'child' }).click()
    await page.getByRole('heading', { level: 1, name: 'Add up.' }).waitFor()
    expect(problems).toEqual([])
  })

  test('is a transcript without JavaScript', async () => {
    const workspace = await workspaceOf({ forty: stepsOf(40) })
    const { url } = await exported(workspace, ['forty'])
    const { page, problems } = await opened(url, { javaScriptEnabled: false })
    await page.getByRole('heading', { name: 'Step 40' }).waitFor()
    const text = (await page.locator('.transcript').allTextContents()).join(' ')
    expect(text).toContain('Fix the failing test.')
    expect(text).toContain('thought 7')
    expect(text).toContain('exit code 1')
    expect(text).toContain('result 39')
    await page.getByRole('heading', { name: 'Step 40' }).scrollIntoViewIfNeeded()
    expect(problems).toEqual([])
  })

  test('what a run says stays text, with JavaScript and without', async () => {
    const hostile = [
      '</script><script>alert(1)</script>',
      '</noscript><img src=x onerror=alert(2)>',
      '<!--<script>',
      '<style>*{display:none}</style><iframe src="https://elsewhere.test">',
    ].join(' ')
    const events: Said[] = [
      start({ agent_name: hostile, task: hostile }),
      user(hostile),
      ...called(1, { observation_content: hostile, status: 'FAILED', exit_code: 1 }),
      thought(2, { content: hostile, model: hostile }),
      end(2),
    ]
    const workspace = await workspaceOf({ hostile: events })
    const { url } = await exported(workspace, ['hostile'])
    for (const javaScriptEnabled of [true, false]) {
      const { page, problems } = await opened(url, { javaScriptEnabled })
      const shown = javaScriptEnabled ? step(page, 2) : page.locator('.transcript').last()
      expect(await shown.textContent()).toContain('<script>alert(1)</script>')
      expect(await page.locator('img, iframe').count()).toBe(0)
      expect(await page.locator('script:not([type])').count()).toBe(0)
      expect(await page.locator('style').count()).toBe(1)
      expect(problems).toEqual([])
    }
  })
})
