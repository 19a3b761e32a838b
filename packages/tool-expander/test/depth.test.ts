import { expect, test } from 'vitest'
import { safeParseTool } from '../src/index.js'

test.each([
  `echo ${'$(echo '.repeat(20_000)}\${p}${')'.repeat(20_000)}`,
  `${'{ '.repeat(50_000)}\${p}`,
  `${'${x:-'.repeat(50_000)}\${p}`,
])('a script that nests without end is refused, never an error that is thrown', (shell) => {
  expect(safeParseTool({ name: 'deep', shell })).toMatchObject({ ok: false })
})

test.each(['echo x >&${p}', 'cat <&${p}', 'echo x >& "${p}"'])(
  '%s is refused: bash expands the target of a duplication once more',
  (shell) => {
    const result = safeParseTool({ name: 'duplicates', shell })
    expect(result).toMatchObject({
      ok: false,
      problems: [{ code: 'ERR_SHELL_CODE', column: expect.any(Number) }],
    })
  },
)

/** Contrived templates of so many words, each of which could be looked at once for each other. */
const CONTRIVED: Record<string, (count: number) => object> = {
  'placeholders of exec:': (count) => ({ exec: `ls ${placeholders(count).join(' ')}` }),
  'placeholders of shell:': (count) => ({ shell: `ls ${placeholders(count).join(' ')}` }),
  'shells that are fed': (count) => ({ shell: `echo \${x} | ${'sh '.repeat(count)}` }),
  'sudo in front of sudo': (count) => ({ shell: `echo \${x} | ${'sudo '.repeat(count)}ls` }),
  'env in front of env': (count) => ({ exec: `${'env '.repeat(count)}ls \${x}` }),
  'options with a text': (count) => ({ exec: `sudo sh ${'-c '.repeat(count)}\${x}` }),
  'watch that takes watch for an option': (count) => ({ exec: `sudo ${'watch -n '.repeat(count)}\${x}` }),
  'adb without shell': (count) => ({ exec: `sudo ${'adb -t '.repeat(count)}\${x}` }),
  'parallel without a command': (count) => ({ exec: `${'parallel -a '.repeat(count)}\${x}` }),
  'one word of placeholders': (count) => ({ shell: `ls ${placeholders(count).join('')}` }),
  'parameters that are described': (count) => ({
    exec: `ls ${placeholders(count).join(' ')}`,
    parameters: Array.from({ length: count }, (_, index) => ({ name: `p${index}` })),
  }),
  'problems on as many lines': (count) => ({ shell: 'echo `${x}`\n'.repeat(count) }),
}

function placeholders(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `\${p${index}}`)
}

test.each(Object.keys(CONTRIVED))(
  '%s: four times the words take less than twelve times as long, not sixteen',
  (name) => {
    const milliseconds = (count: number): number => {
      const definition = { name: 'contrived', ...CONTRIVED[name]?.(count) }
      const start = process.cpuUsage()
      safeParseTool(definition)
      const { user, system } = process.cpuUsage(start)
      return (user + system) / 1000
    }
    milliseconds(8_000) // so that both are compiled
    const pairs = Array.from({ length: 3 }, () => [milliseconds(2_000), milliseconds(8_000)] as const)
    const [few, many] = [Math.min(...pairs.map(([each]) => each)), Math.min(...pairs.map(([, each]) => each))]
    expect(many / few).toBeLessThan(12)
  },
)

test('of thousands of problems the first hundred are reported', () => {
  const result = safeParseTool({ name: 'wrong', shell: 'echo `${x}`\n'.repeat(5_000) })
  expect(result.ok ? [] : result.problems).toHaveLength(100)
  expect(result).toMatchObject({ problems: expect.arrayContaining([expect.objectContaining({ line: 100 })]) })
})
