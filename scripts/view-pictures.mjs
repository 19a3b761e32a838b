/**
 * Takes the pictures of `delta view` in the documents, of the exported run in `docs/assets/run.html`. For people: nothing compares them.
 *
 *   node scripts/view-pictures.mjs        needs chromium, as the tests of the page do
 */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './lib/environment.mjs'

const { chromium } = createRequire(join(root, 'packages/view/package.json'))('playwright-core')

/** By its name: the address in the page, and the theme. */
const PICTURES = {
  'view-run': ['#/run/r1/step/18', 'light'],
  'view-compare': ['#/diff/r1/r2', 'light'],
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
})
try {
  for (const [name, [place, colorScheme]] of Object.entries(PICTURES)) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, colorScheme })
    await page.goto(`${pathToFileURL(join(root, 'docs/assets/run.html'))}${place}`)
    await page.waitForLoadState('networkidle')
    await page.evaluate('document.fonts.ready.then(() => undefined)')
    await page.screenshot({ path: join(root, `docs/assets/${name}.png`) })
    await page.close()
  }
} finally {
  await browser.close()
}
