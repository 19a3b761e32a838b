import { expect, test } from 'vitest'
import { parseTool } from '../src/index.js'

test.each([
  `echo ${'$(echo '.repeat(20_000)}\${p}${')'.repeat(20_000)}`,
  `${'{ '.repeat(50_000)}\${p}`,
  `${'${x:-'.repeat(50_000)}\${p}`,
])('a script that nests without end is refused, never an error that is thrown', (shell) => {
  expect(parseTool({ name: 'deep', shell })).toMatchObject({ ok: false })
})

test.each(['echo x >&${p}', 'cat <&${p}', 'echo x >& "${p}"'])(
  '%s is refused: bash expands the target of a duplication once more',
  (shell) => {
    const result = parseTool({ name: 'duplicates', shell })
    expect(result).toMatchObject({
      ok: false,
      problems: [{ code: 'ERR_SHELL_CODE', column: expect.any(Number) }],
    })
  },
)

test.each(['exec', 'shell'])('%s: four times the placeholders do not take ten times as long', (mode) => {
  const milliseconds = (count: number): number => {
    const words = Array.from({ length: count }, (_, index) => `\${p${index}}`)
    const definition = { name: 'many', [mode]: `x ${words.join(' ')}` }
    const start = process.cpuUsage()
    expect(parseTool(definition)).toMatchObject({ ok: true })
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
  milliseconds(5_000)
  // The best of three: a busy machine makes one of them slow.
  const ratios = [1, 2, 3].map(() => milliseconds(20_000) / milliseconds(5_000))
  expect(Math.min(...ratios)).toBeLessThan(10)
})
