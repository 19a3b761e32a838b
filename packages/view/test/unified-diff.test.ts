import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DiffLine, diffLines, parseUnifiedDiff } from '../web/text/unified-diff.js'

test('lines of a unified diff have their kind and the numbers of both files', () => {
  const diff = '@@ -1,3 +1,3 @@\n from math import pi\n-from math import ad\n+from operator import add\n \n'
  expect(parseUnifiedDiff(diff)).toEqual([
    { kind: 'hunk', text: '@@ -1,3 +1,3 @@' },
    { kind: 'same', text: 'from math import pi', old: 1, new: 1 },
    { kind: 'removed', text: 'from math import ad', old: 2 },
    { kind: 'added', text: 'from operator import add', new: 2 },
    { kind: 'same', text: '', old: 3, new: 3 },
  ])
})

test('a removed line that begins with dashes is no name of a file', () => {
  expect(parseUnifiedDiff('@@ -7 +7 @@\n--- a\n+++ b').slice(1)).toEqual([
    { kind: 'removed', text: '-- a', old: 7 },
    { kind: 'added', text: '++ b', new: 7 },
  ])
})

test('what stands before the first hunk names the files', () => {
  expect(parseUnifiedDiff('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1').map(({ kind }) => kind)).toEqual([
    'file',
    'file',
    'hunk',
    'removed',
  ])
})

test('two texts are compared by lines, with the lines around what changed', () => {
  const shown = diffLines('a\nb\nc\nd\ne\nf\ng', 'a\nb\nc\nX\ne\nf\ng', 1)
  expect(shown.map(sign)).toEqual(['@… 2 lines the same', ' c', '-d', '+X', ' e', '@… 2 lines the same'])
  expect(shown[2]).toMatchObject({ old: 4 })
})

test('equal texts have no difference', () => {
  expect(diffLines('a\nb', 'a\nb')).toEqual([])
})

test('of any texts, removing and adding what is shown makes one of the other', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 })
    .map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const shown = diffLines(before, after, 1000)
      fc.pre(before !== after)
      const side = (kind: DiffLine['kind']) =>
        shown.filter((line) => line.kind === 'same' || line.kind === kind).map((line) => line.text)
      expect(side('removed').join('\n')).toBe(before)
      expect(side('added').join('\n')).toBe(after)
    }),
  )
})

test('a change of thousands of lines is shown whole, without comparing each pair', () => {
  const lines = (word: string) => Array.from({ length: 5000 }, (_, index) => `${word} ${index}`).join('\n')
  const shown = diffLines(lines('old'), lines('new'))
  expect(shown).toHaveLength(10_000)
})

function sign({ kind, text }: DiffLine): string {
  return { same: ' ', added: '+', removed: '-', hunk: '@', file: '#' }[kind] + text
}
