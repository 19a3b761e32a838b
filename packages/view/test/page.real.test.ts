import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { serve } from '@delta/view'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import {
  called,
  end,
  evaluationOf,
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

const failed = (n: number) => called(n, { status: 'FAILED', exit_code: 1, observation_content: lines(20) })
const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('')

/** Forty steps, of which the 5th and the 20th have a failed call. */
function fortySteps(): Said[] {
  const steps = Array.from({ length: 39 }, (_, index) =>
    index === 4 || index === 19 ? failed(index + 1) : called(index + 1),
  )
  for (const [asks] of steps) if (asks && Number(asks.iteration) % 2 === 0) asks.content = ''
  return [
    start(),
    user('Fix the failing test.'),
    ...steps.flat(),
    thought(40, { content: 'All is well.' }),
    end(40),
  ]
}

interface Opened {
  page: Page
  /** What a browser says when something is wrong, and requests to elsewhere. */
  problems: string[]
  /** The journal of a run. */
  append(id: string, events: readonly Said[], firstSeq: number): void
}

/** The page of some runs. */
async function opened(
  runs: Record<string, readonly Said[]>,
  { width = 1440, height = 900, theme = 'light' as 'light' | 'dark', run = '', forced = false, at = '' } = {},
): Promise<Opened> {
  const workspace = at || (await workspaceOf(runs))
  const directory = (id: string) => join(workspace, '.delta', id)
  const served = await serve({ places: [workspace], ...(run && { run: directory(run) }) })
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(forced && { reducedMotion: 'reduce' }),
  })
  onTestFinished(async () => {
    await context.close()
    await served.close()
  })
  const page = await context.newPage()
  const problems: string[] = []
  page.on(
    'console',
    (message) => void (/error|warning/.test(message.type()) && problems.push(message.text())),
  )
  page.on('pageerror', (error) => void problems.push(error.message))
  page.on('dialog', (dialog) => void problems.push(`dialog: ${dialog.message()}`))
  page.on('request', (request) => {
    if (!request.url().startsWith(`http://127.0.0.1:${served.port}/`) && !request.url().startsWith('data:'))
      problems.push(`request: ${request.url()}`)
  })
  await page.goto(served.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  return {
    page,
    problems,
    append: (id, events, firstSeq) =>
      appendFileSync(join(directory(id), 'journal.jsonl'), journalOf(events, firstSeq)),
  }
}

const at = (page: Page) => new URL(page.url()).hash
const step = (page: Page, n: number) => page.getByRole('article', { name: `Step ${n}`, exact: true })
/** The step whose number has the accent. */
const selected = (page: Page) => page.locator('[aria-current=step] .n')

test('the page is small: at most 60 kB packed and 170 kB as it is', () => {
  const assets = join(import.meta.dirname, '../dist/assets')
  const parts = readdirSync(assets).filter((name) => /\.(js|css)$/.test(name))
  expect(parts).toHaveLength(2)
  const bytes = parts.map((name) => readFileSync(join(assets, name)))
  const sum = (sizes: number[]) => sizes.reduce((total, size) => total + size, 0)
  expect(sum(bytes.map((each) => gzipSync(each, { level: 9 }).length))).toBeLessThanOrEqual(60_000)
  expect(sum(bytes.map(({ length }) => length))).toBeLessThanOrEqual(170_000)
})

test('no source of the page makes elements from text', () => {
  const web = join(import.meta.dirname, '../web')
  const sources = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.tsx?$/.test(name),
  )
  expect(sources.length).toBeGreaterThan(20)
  for (const name of sources)
    expect(readFileSync(join(web, name), 'utf8'), name).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|\beval\(/,
    )
})

describe.skipIf(!chromiumHere)('the page in a browser', () => {
  test('lists the runs, and takes its token out of the address', async () => {
    const { page, problems } = await opened({
      forty: fortySteps(),
      other: [start({ task: 'Something else.' }), user('x')],
    })
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(2)
    expect(at(page)).toBe('#/')
    const row = page.locator('.row', { hasText: 'forty' })
    expect(await row.locator('.c-steps').textContent()).toBe('40')
    expect(await row.locator('.c-status').textContent()).toBe('completed')
    expect(await page.getByRole('grid').getAttribute('aria-rowcount')).toBe('3')
    expect(problems).toEqual([])
  })

  test('filters the runs by what is typed, and the address keeps it', async () => {
    const { page } = await opened({
      forty: fortySteps(),
      other: [start({ task: 'Something else.', work_dir: '/work/jobs/north' }), user('x')],
    })
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(2)
    await expect
      .poll(() => page.locator('.c-workspace').allTextContents())
      .toEqual(['Workspace', '/work', 'jobs/north'])
    await page.keyboard.press('/')
    await page.keyboard.type('workspace:jobs/*')
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(1)
    await page.keyboard.press('Escape')
    await page.keyboard.press('/')
    await page.keyboard.type('status:completed steps:>30')
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(1)
    expect(decodeURIComponent(at(page))).toBe('#/?filter=status:completed+steps:>30')
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(2)
    await page.keyboard.press('/')
    await page.keyboard.type('nothing has this')
    await page.getByText('No run fits this filter.').waitFor()
  })

  test('groups the cells of an evaluation, filters them by score, shows results as they come, and compares two', async () => {
    const events = [start({ task: 'Fix it.' }), user('x'), ...called(1), thought(2), end(2)]
    const scored = (score: number) => ({ state: 'scored', score })
    const files = evaluationOf([
      { name: 'sonnet/calc/1', events, result: scored(1) },
      { name: 'luna/calc/10', events },
      { name: 'luna/calc/2', events, result: scored(0.5) },
      { name: 'luna/calc/1', events, result: { state: 'unscored-agent', score: null } },
    ])
    const { path, write } = await place(files)
    const { page, problems } = await opened({}, { at: path })
    const texts = (name: string) => page.locator(`.row:not(.head) .${name}`).allTextContents()
    await expect.poll(() => texts('c-name')).toEqual(['x', 'luna/calc', 'sonnet/calc'])
    expect(await texts('c-about')).toEqual([
      '4 cells: 2 scored, 1 unscored-agent, 1 pending',
      'Fix it.',
      'Fix it.',
    ])
    expect(await texts('c-run a')).toEqual(['repeat 1', 'repeat 2', 'repeat 10', 'repeat 1'])
    expect(await texts('c-score')).toEqual(['', '0.25', '', '0.5', '', '1', '1'])
    await write('x.eval/cells/c1/result.json', JSON.stringify({ attempt: 1, ...scored(1) }))
    await expect
      .poll(() => texts('c-score'), { timeout: 8000 })
      .toEqual(['', '0.5', '', '0.5', '1', '1', '1'])
    await page.keyboard.press('/')
    await page.keyboard.type('score:<1 variant:luna')
    await expect.poll(() => texts('c-state')).toEqual(['scored'])
    expect(await texts('c-score')).toEqual(['', '0.5', '0.5'])
    await page.keyboard.press('Escape')
    for (const key of 'jxjxd') await page.keyboard.press(key)
    await page.getByText('No difference').waitFor()
    expect(await page.locator('.side').allTextContents()).toEqual([
      expect.stringContaining('luna/calc/1mcompletedunscored-agent'),
      expect.stringContaining('luna/calc/2mcompletedscored 0.5'),
    ])
    expect(problems).toEqual([])
  })

  test('sorts by a column when its header is clicked', async () => {
    const { page } = await opened({
      forty: fortySteps(),
      short: [start(), user('x'), ...called(1), thought(2), end(2)],
    })
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(2)
    await page.getByRole('button', { name: 'Steps', exact: true }).click()
    await expect.poll(() => page.locator('.c-steps').allTextContents()).toEqual(['Steps ↓', '40', '2'])
    await page.getByRole('button', { name: 'Steps ↓' }).click()
    await expect.poll(() => page.locator('.c-steps').allTextContents()).toEqual(['Steps ↑', '2', '40'])
  })

  test('a run opens at its newest step, and of forty steps at least twelve are on the first screen', async () => {
    const { page, problems } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    await expect.poll(() => selected(page).textContent()).toBe('40')
    expect(await step(page, 40).textContent()).toContain('All is well.')
    await page.keyboard.press('g')
    await expect.poll(() => selected(page).textContent()).toBe('1')
    const bottom = async (n: number) => {
      const box = await step(page, n).boundingBox()
      return box ? box.y + box.height : Number.POSITIVE_INFINITY
    }
    await expect.poll(() => bottom(12)).toBeLessThanOrEqual(900)
    expect(problems).toEqual([])
  })

  test('j, k, J, K, g and G move from step to step and from failure to failure', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    const press = async (keys: string, n: string) => {
      for (const key of keys) await page.keyboard.press(key)
      await expect.poll(() => selected(page).textContent()).toBe(n)
    }
    await press('k', '39')
    await press('K', '20')
    await press('K', '5')
    await press('kkk', '2')
    await press('j', '3')
    await press('J', '5')
    expect(at(page)).toMatch(/^#\/run\/[^/]+\/step\/5$/)
    await press('G', '40')
    expect(at(page)).toMatch(/^#\/run\/[^/]+$/)
  })

  test('numbers choose what the inspector shows, o the output, c the cost, esc leads back', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    await page.keyboard.press('k')
    const tab = () => page.locator('[role=tab][aria-selected=true]').textContent()
    for (const [key, name] of [
      ['2', 'Request'],
      ['3', 'Response'],
      ['6', 'Journal'],
      ['1', 'Context'],
      ['o', 'Output'],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(tab).toBe(name)
    }
    await page.getByRole('tabpanel').getByText('result 39').waitFor()
    await page.keyboard.press('c')
    await expect.poll(tab).toBe('By source')
    await page.getByRole('row', { name: /^Sum/ }).waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(tab).toBe('Output')
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'delta' }).waitFor()
    await page.goBack()
    await expect.poll(tab).toBe('Output')
  })

  test('/ searches the run; a number goes to that step', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    await page.keyboard.press('/')
    await page.getByRole('searchbox').waitFor()
    await page.keyboard.type('result 17')
    await page.locator('.match', { hasText: 'result 17' }).waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(() => selected(page).textContent()).toBe('17')
    await page.getByRole('searchbox').fill('8')
    await page.keyboard.press('Enter')
    await expect.poll(() => selected(page).textContent()).toBe('8')
  })

  test('y copies the command for what is shown', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    await page.keyboard.press('3')
    await page.keyboard.press('y')
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(/^delta show \S*forty --step 40/)
  })

  test('x marks two runs and d compares them', async () => {
    const changed = fortySteps().map((event) =>
      event.type === 'ACTION_RESULT' && event.iteration === 7
        ? { ...event, observation_content: 'another result' }
        : event,
    )
    const { page, problems } = await opened({ forty: fortySteps(), other: changed })
    await expect.poll(() => page.locator('.row:not(.head)').count()).toBe(2)
    for (const key of 'jxjxd') await page.keyboard.press(key)
    await page.getByText('First divergence').waitFor()
    expect(at(page)).toMatch(/^#\/diff\//)
    await page.locator('.cause', { hasText: 'environment' }).waitFor()
    await page.getByText('Steps 1 to 6 are the same').waitFor()
    expect(problems).toEqual([])
  })

  test('t changes the theme against that of the system, and back', async () => {
    const { page } = await opened({ forty: fortySteps() }, { theme: 'dark' })
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    const dark = await paper()
    await page.keyboard.press('t')
    await expect.poll(paper).not.toBe(dark)
    await page.reload()
    await expect.poll(paper).not.toBe(dark)
    await page.keyboard.press('t')
    await expect.poll(paper).toBe(dark)
  })

  test('? lists the keys, and esc closes the list', async () => {
    const { page } = await opened({ forty: fortySteps() })
    await page.keyboard.press('?')
    await page.getByRole('dialog').getByText('next or previous failure').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
  })

  test('Tab reaches what can be pressed, with a ring that can be seen', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    await step(page, 40).waitFor()
    const reached = new Set<string>()
    for (let times = 0; times < 6; times++) {
      await page.keyboard.press('Tab')
      const [name, ring] = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement
        const { outlineStyle, outlineWidth } = getComputedStyle(element)
        return [
          element.getAttribute('role') ?? element.tagName.toLowerCase(),
          `${outlineStyle} ${outlineWidth}`,
        ] as const
      })
      reached.add(name)
      if (name !== 'body') expect(ring).toBe('solid 2px')
    }
    expect([...reached]).toEqual(expect.arrayContaining(['button', 'slider', 'article', 'tab']))
  })

  test('the strip is a slider of the steps, and has a table for those who cannot see it', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty' })
    const slider = page.getByRole('slider')
    await slider.focus()
    await page.keyboard.press('Home')
    await expect.poll(() => selected(page).textContent()).toBe('1')
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => slider.getAttribute('aria-valuenow')).toBe('2')
    await expect
      .poll(() => page.getByRole('table', { name: 'Time by step' }).getByRole('row').count())
      .toBe(41)
  })

  test('steps that are journaled appear, and the list follows until somebody scrolls up', async () => {
    const beginning = [
      start(),
      user('Go.'),
      ...Array.from({ length: 30 }, (_, index) => called(index + 1)).flat(),
    ]
    const { page, append, problems } = await opened({ live: beginning }, { run: 'live' })
    await step(page, 30).waitFor()
    append('live', called(31), beginning.length + 1)
    await step(page, 31).waitFor()
    await expect.poll(() => selected(page).textContent()).toBe('31')
    await page.locator('.steps .windowed').hover()
    await page.mouse.wheel(0, -400)
    await expect.poll(() => selected(page).textContent()).toBe('31')
    append('live', called(32), beginning.length + 4)
    await expect.poll(() => page.getByRole('article').first().getAttribute('aria-setsize')).toBe('32')
    expect(
      await step(page, 32)
        .isVisible()
        .catch(() => false),
    ).toBe(false)
    await page.keyboard.press('G')
    await step(page, 32).waitFor()
    expect(problems).toEqual([])
  })

  test('of a long run only the steps in view are in the document, wherever one scrolls', async () => {
    const long = [
      start(),
      user('Go.'),
      ...Array.from({ length: 3000 }, (_, index) => called(index + 1)).flat(),
    ]
    const { page } = await opened({ long }, { run: 'long' })
    await step(page, 3000).waitFor()
    for (const n of [1, 1500, 2999, 700]) {
      await page.keyboard.press('/')
      await page.getByRole('searchbox').fill(String(n))
      await page.keyboard.press('Enter')
      await step(page, n).waitFor()
      await expect.poll(() => selected(page).textContent()).toBe(String(n))
      expect(await page.getByRole('article').count()).toBeLessThan(120)
    }
  })

  test('on a narrow screen the inspector is a page of its own, and nothing is wider than the screen', async () => {
    const { page } = await opened({ forty: fortySteps() }, { run: 'forty', width: 390, height: 844 })
    await step(page, 40).waitFor()
    expect(await page.getByRole('tablist').count()).toBe(0)
    await page.keyboard.press('Enter')
    await page.getByRole('tab', { name: 'Context' }).waitFor()
    expect(await page.getByRole('article').count()).toBe(0)
    const width = () => page.evaluate(() => document.documentElement.scrollWidth)
    expect(await width()).toBeLessThanOrEqual(390)
    await page.keyboard.press('Escape')
    await step(page, 40).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'delta' }).waitFor()
    expect(await width()).toBeLessThanOrEqual(390)
  })

  test('a damaged run, an unknown run and a missing token are said in words', async () => {
    const { page } = await opened({ damaged: [start(), end(0)] }, { run: 'damaged' })
    await page.getByText('The beginning of this run is lost').waitFor()
    await page.evaluate(() => {
      location.hash = '#/run/nobody'
    })
    await page.locator('.empty.bad').waitFor()
    await page.evaluate(() => {
      sessionStorage.clear()
      location.hash = '#/'
    })
    await page.reload()
    await page.getByText('This address lacks its token.').waitFor()
  })

  test('hostile strings stay text: no element, dialog, request or error comes of them', async () => {
    const hostile =
      '<img src=http://evil.example/x onerror=alert(1)><script>alert(2)</script>"\'><svg onload=alert(3)> javascript:alert(4) ' +
      '[link](http://evil.example) \u202Etxt.exe \x1b[31mred\x1b]8;;http://evil.example\x07x\x1b[2J {{constructor}} \uD800'
    const call = {
      id: 'c1',
      action_id: 'c1',
      name: hostile,
      arguments: JSON.stringify({ [hostile]: hostile, old_x: hostile, new_x: `${hostile}!` }),
    }
    const about = { iteration: 1, action_id: 'c1', tool_name: hostile }
    const message = { role: 'assistant', content: hostile, reasoning_content: hostile }
    const { page, problems } = await opened({
      run: [
        start({
          agent_name: hostile,
          task: hostile,
          config: { llm: { model: hostile }, tools: [{ name: hostile }] },
        }),
        user(hostile),
        thought(1, { content: hostile, tool_calls: [call], model: hostile, message, finish_reason: hostile }),
        {
          type: 'ACTION_REQUEST',
          ...about,
          attempt: 1,
          resolved_command: hostile,
          argv: [hostile],
          tool_args: {},
        },
        {
          type: 'HUMAN_INPUT_REQUEST',
          iteration: 1,
          action_id: 'c1',
          request_id: 'q',
          prompt: hostile,
          reasons: [hostile],
          argv: [hostile],
        },
        { type: 'HUMAN_INPUT_RECEIVED', iteration: 1, action_id: 'c1', request_id: 'q', response: hostile },
        {
          type: 'ACTION_RESULT',
          ...about,
          status: 'FAILED',
          exit_code: 1,
          observation_content: hostile,
          duration_ms: 1,
        },
        {
          type: 'HOOK_EXECUTION_AUDIT',
          iteration: 1,
          hook_name: hostile,
          status: hostile,
          error_message: hostile,
        },
        { type: 'SYSTEM_MESSAGE', level: 'WARN', content: hostile },
        { type: 'ERROR', iteration: 2, error_message: hostile, recoverable: false },
        end(1, { status: 'FAILED', reason_code: hostile, reason: hostile }),
      ],
    })
    await page.evaluate(() => {
      const made: string[] = []
      Object.assign(window, { made })
      new MutationObserver((records) => {
        for (const record of records)
          for (const node of record.addedNodes)
            if (node instanceof Element)
              for (const each of [node, ...node.querySelectorAll('*')])
                if (
                  /^(script|img|iframe|object|embed|link|style)$/i.test(each.tagName) ||
                  [...each.attributes].some(({ name }) => name.startsWith('on'))
                )
                  made.push(each.outerHTML)
      }).observe(document, { childList: true, subtree: true })
    })
    await page.locator('.row:not(.head) a').first().click()
    await step(page, 1).waitFor()
    await page.keyboard.press('g')
    for (const key of '123456') {
      await page.keyboard.press(key)
      await expect.poll(() => page.getByRole('tabpanel').textContent()).not.toContain('Reading')
    }
    await page.locator('.journal summary').first().click()
    await page.keyboard.press('c')
    await page.getByRole('tab', { name: 'By tool' }).click()
    await page.getByRole('row', { name: /^Sum/ }).waitFor()
    await page.keyboard.press('Escape')
    await step(page, 1).waitFor()
    expect(await step(page, 1).textContent()).toContain('‹U+202E›txt.exe')
    expect(await step(page, 1).textContent()).toContain('<script>alert(2)</script>')
    expect(await page.evaluate(() => (window as unknown as { made: string[] }).made)).toEqual([])
    expect(problems).toEqual([])
  })
})
