import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { GOALS } from '../../benchmarks/goals.mjs'
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

test('the day and the machine are figures, of one benchmark and of all, and so are the goals that are missed', () => {
  const slow = { ...measured, date: '2026-01-05', tables: [], figures: { ratio: '5.00' } }
  const directory = temporaryTree({ 'startup.json': measured, 'loop.json': slow })
  /** @param {string} name */
  const figure = (name) => fillResults(`<!-- figure: ${name} --><!-- /figure -->`, directory).rendered
  expect(figure('startup.date')).toContain('>2026-01-02<')
  expect(figure('all.date')).toContain('>2026-01-02 to 2026-01-05<')
  expect(figure('all.machine')).toContain('>a machine<')
  expect(figure('all.missed')).toContain('a long run beside the durable loop (5.00, goal 4)')
  expect(figure('all.missed')).not.toContain('1.40')
  expect(figure('all.missed')).toContain('a run of one answer beside an empty script (not measured, goal 6)')
})

test('every goal is for a figure that was measured', () => {
  const wanted = GOALS.map(({ figure }) => `<!-- figure: ${figure} --><!-- /figure -->`).join(' ')
  expect(fillResults(wanted).problems).toEqual([])
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
