import { expect, test } from 'vitest'
import { globFault, globTest, ignoreTest } from '../lib/glob.mjs'
import { lineTest } from '../lib/pattern.mjs'

test.for([
  ['*.ts', ['a.ts', 'd/a.ts', '.ts'], ['a.tsx', 'a.ts/b']],
  ['a*b*c', ['abc', 'axbxbxc', 'd/abc'], ['ab/c', 'abcd', 'ab']],
  ['src/**/*.{js,t?}', ['src/a.js', 'src/d/e/a.ts'], ['src/a.css', 'd/src/a.js', 'a.js']],
  ['{a*,*b}/c', ['ab/c', 'xb/c', 'a/c'], ['x/c', 'c', 'd/a/c']],
  ['d/**', ['d/a', 'd/e/f'], ['d', 'e/d/a']],
  ['**/x/**/y', ['x/y', 'a/x/b/c/y'], ['xy', 'x/yy']],
  ['/a', ['a'], ['d/a']],
  ['[a-c]?[!x]', ['abc', 'd/cc-'], ['dbc', 'abx', 'ab', 'ab/']],
  ['[z-a]', ['[z-a]'], ['b']],
  ['\\*\\{', ['*{'], ['a{']],
  ['!*.ts', ['a.js'], ['a.ts']],
] as const)('the glob %s', ([glob, matching, others]) => {
  const isWanted = globTest(glob)
  expect([...matching, ...others].filter(isWanted)).toEqual(matching)
})

test('a glob of many stars takes no longer than one of a few', () => {
  const name = 'a'.repeat(250)
  expect(ignoreTest(`${'*a'.repeat(100)}b\n`)(name, false)).toBe(false)
  expect(ignoreTest(`${'**/*a'.repeat(50)}*b\n`)(`${'a/'.repeat(100)}c`, false)).toBe(false)
  expect(globTest(`{${'*a'.repeat(50)}b,${'*a'.repeat(50)}}`)(name)).toBe(true)
})

test('a pattern that tries ways without end is ended, and blamed', () => {
  const test = lineTest('(a+)+$', 50)
  expect(test(['b', 'aa'], 'a.txt')).toEqual([false, true])
  expect(() => test([`${'a'.repeat(60)}b`], 'a.txt')).toThrow('The pattern takes too long on a.txt.')
})

test('a bracket without its other one is a fault', () => {
  expect(globFault('[')).toBe('"[" without its "]"; for the character itself write "\\["')
  expect(globFault('*.{ts,js')).toMatch(/^"\{" without its "\}"/)
  expect(['*.{ts,js}', '[!a]', '\\[', 'a]'].map(globFault)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})
