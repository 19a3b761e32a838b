import { expect, test } from 'vitest'
import { drawTerminal } from '../lib/terminal.mjs'
import { recordDemo, withoutVolatile } from '../recording.mjs'

test('a recording shows an engine that is killed in the middle of a tool and goes on, its report and its journal', async () => {
  const text = await recordDemo({ secondsPerFile: 1 })
  expect(text).toMatch(/^\$ node apps\/cli\/bin\.cjs run --agent examples\/1-basics\/word-counter /)
  expect(text).toContain('\n1. First I look at what is here.\n')
  expect(text).toMatch(
    /count\.sh counts\n\n\$ kill -9 \d+ .*\n\n\$ node apps\/cli\/bin\.cjs continue -w workspaces\/demo-001\nresuming /,
  )
  expect(text).toContain('     INTERRUPTED\n')
  expect(text).toContain(
    '\n$ cat workspaces/demo-001/report.md\n29 trial-2024.txt\n13 survey.txt\n7 history.txt\n',
  )
  expect(text).toMatch(/"type":"ENGINE_END".*$/)
  expect(text).toContain(' in ~/delta/workspaces/demo-001\n')
  expect(text).not.toMatch(/\/tmp\/|\x1b/)
})

test('two recordings differ in times and identifiers only', () => {
  const one =
    'run 20260102_030405_ab12cd\n  29 ./a.txt\n  exit 0, 9 ms\n{"timestamp":"2026-01-02T03:04:05.678Z","action_id":"a1"}'
  const other =
    'run 20270908_070605_00ffee\n  29 ./a.txt\n  exit 0, 12 ms\n{"timestamp":"2027-09-08T07:06:05.432Z","action_id":"b2"}'
  expect(withoutVolatile(one)).toBe(withoutVolatile(other))
  expect(withoutVolatile(one)).not.toBe(withoutVolatile(one.replace('exit', 'ended')))
  expect(withoutVolatile(one)).not.toBe(withoutVolatile(one.replace('29', '30')))
})

test('a line is drawn by what it is, its spaces kept, and never cut', () => {
  const svg = drawTerminal('$ a && b < c\n     out', 'A & B')
  expect(svg).toContain('<title>A &amp; B</title>')
  expect(svg).toContain('class="typed" x="16" y="29.5">$ a &amp;&amp; b &lt; c</text>')
  expect(svg).toContain('class="output" x="16" y="47.5">     out</text>')
  expect(svg).toContain('xml:space="preserve"')
  expect(() => drawTerminal('x'.repeat(200), 'A')).toThrow('does not fit into 118 columns')
})
