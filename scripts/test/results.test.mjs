import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'
import { fillResults } from '../lib/results.mjs'
import { temporaryTree } from './temporary.mjs'

const measured = {
  date: '2026-01-02',
  machine: 'a machine',
  tables: [{ title: 'Start-up', rows: [{ what: 'empty', ms: 20 }, { what: 'ours' }] }],
  figures: { ratio: '1.40' },
}
/** @param {string} text */
function fill(text) {
  return fillResults(text, temporaryTree({ 'startup.json': measured }))
}

test('a document shows the tables that a benchmark has written, with the day and the machine', () => {
  const { rendered, problems } = fill('<!-- results: startup -->\nold\n<!-- /results -->\n')
  expect(problems).toEqual([])
  expect(rendered).toBe(`<!-- results: startup -->
Start-up:

| what | ms |
| --- | --- |
| empty | 20 |
| ours |  |

Measured on 2026-01-02: a machine.
<!-- /results -->
`)
  expect(fill(rendered).rendered).toBe(rendered)
})

test('a figure in a sentence is filled in from what was measured', () => {
  const text = 'It costs <!-- figure: startup.ratio -->9<!-- /figure --> times as much.'
  const { rendered, problems } = fill(text)
  expect(problems).toEqual([])
  expect(rendered).toBe(text.replace('9', '1.40'))
})

test('a figure that nobody measured, and a marker without its partner, are problems', () => {
  const lost = '<!-- figure: startup.none --><!-- /figure --> <!-- figure: other.x --><!-- /figure -->'
  expect(fill(lost)).toEqual({
    rendered: lost,
    problems: [
      'benchmarks/results/startup.json has no figure none',
      'benchmarks/results/other.json is missing: run the benchmark with --write',
    ],
  })
  expect(fill('<!-- results: startup -->\n').problems).toEqual(['a results or figure marker has no partner'])
})

test('the page of benchmarks shows each of them', () => {
  const page = readFileSync(join(root, 'benchmarks', 'README.md'), 'utf8')
  const programs = readdirSync(join(root, 'benchmarks')).filter((name) => name.endsWith('.mjs'))
  const names = programs.flatMap((name) => {
    const text = readFileSync(join(root, 'benchmarks', name), 'utf8')
    return /^ *report\('([\w-]+)'/m.exec(text)?.slice(1) ?? []
  })
  expect(names).toContain('startup')
  const shown = [...page.matchAll(/^<!-- results: (\S+) -->$/gm)].map(([, name]) => name)
  expect(shown.sort()).toEqual(names.sort())
})
