import { expect, test } from 'vitest'
import { drawTerminal } from '../lib/terminal.mjs'
import { recordDemo, withoutVolatile } from '../recording.mjs'

test('a recording shows what was typed, what the agent did, and its journal; nothing of the machine', async () => {
  const text = await recordDemo()
  expect(text).toMatch(/^\$ node apps\/cli\/bin\.cjs run --agent examples\/1-basics\/hello-world /)
  expect(text).toContain('\n1. First I look at what is in the workspace.\n   $ ls -1 .\n')
  expect(text).toMatch(/\n\d+ ENGINE_END COMPLETED$/)
  expect(text).toContain(' in ~/delta/workspaces/demo-001\n')
  expect(text).not.toMatch(/\/tmp\/|\x1b/)
})

test('two recordings differ in times, identifiers and lengths of documents only', () => {
  const one = 'run 20260102_030405_ab12cd\n   998 ./README.md\n     9 ./LICENSE.md\n  exit 0, 9 ms'
  const other = 'run 20270908_070605_00ffee\n  1001 ./SECURITY.md\n    12 ./README.md\n  exit 0, 12 ms'
  expect(withoutVolatile(one)).toBe(withoutVolatile(other))
  expect(withoutVolatile(one)).not.toBe(withoutVolatile(one.replace('exit', 'ended')))
})

test('a line is drawn by what it is, and cut where the terminal ends', () => {
  const svg = drawTerminal(`$ a && b < c\n     out\n${'x'.repeat(200)}`, 'A & B')
  expect(svg).toContain('<title>A &amp; B</title>')
  expect(svg).toContain('class="typed" x="16" y="29.5">$ a &amp;&amp; b &lt; c</text>')
  expect(svg).toContain('class="output" x="16" y="47.5">     out</text>')
  expect(svg).toMatch(/>x{111}…<\/text>/)
})
