import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'

const page = readFileSync(join(root, 'docs/assets/run.html'), 'utf8')

test('the run that the README shows has forty steps, a fork, a killed engine and a lost cache', () => {
  const [, file = '{}'] = /data-delta="file">(.*?)<\/script>/.exec(page) ?? []
  const [run] = JSON.parse(file).runs
  expect([run.steps, run.status, run.forkOf.step]).toEqual([40, 'COMPLETED', 9])
  expect(page).toContain('"after":"after a kill"')
  expect(page).toContain('"isBroken":true')
})

test('it names no directory and no person of the machine where it was made', () => {
  expect(page.match(/\/(tmp|home|root|Users|work|var)\/[\w.-]+/g)).toBeNull()
  expect(new Set(page.match(/hostname\W+[\w.-]+/g))).toEqual(new Set(['hostname\\":\\"laptop']))
})

test('its policy names the script and the style sheet that it has', () => {
  const inline = [/<style>(.*?)<\/style>/s, /<script type="module">(.*?)<\/script>/s]
  for (const [, text = ''] of inline.map((pattern) => pattern.exec(page) ?? []))
    expect(page).toContain(`'sha256-${createHash('sha256').update(text).digest('base64')}'`)
})
