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
