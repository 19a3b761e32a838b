import { expect, test } from 'vitest'
import { checkDocstrings } from '../check-docstrings.mjs'
import { temporaryTree } from './temporary.mjs'

const exports = {
  '.': { types: './dist/index.d.ts' },
  './lint': { types: './dist/lint.d.ts' },
  './x.json': './x.json',
}

test('what any entry exports without a docstring is named at the place where it is declared', () => {
  const tree = temporaryTree({
    'packages/one/package.json': { exports },
    'packages/one/src/index.ts': `export { bare, told, type Bare } from './code.js'\nexport type { Bare as Twice } from './code.js'`,
    'packages/one/src/lint.ts': '/** @throws {Error} never */\nexport const tagged = 1',
    'packages/one/src/code.ts':
      '/** Told. */\nexport const told = 1\nexport function bare() {}\n// no docstring\nexport interface Bare {}\nfunction unseen() {}',
  })
  expect(checkDocstrings(tree)).toEqual([
    'packages/one/src/code.ts:3: bare is exported without a docstring; say what its name does not',
    'packages/one/src/code.ts:5: Bare is exported without a docstring; say what its name does not',
    'packages/one/src/code.ts:5: Twice is exported without a docstring; say what its name does not',
    'packages/one/src/lint.ts:2: tagged is exported without a docstring; say what its name does not',
  ])
})

test('a private package may say nothing, and an entry that exports nothing is named', () => {
  const tree = temporaryTree({
    'packages/private/package.json': { private: true, exports },
    'packages/private/src/index.ts': 'export const bare = 1',
    'packages/public/package.json': { exports: { '.': { types: './dist/index.d.ts' } } },
  })
  expect(checkDocstrings(tree)).toEqual([
    'packages/public/src/index.ts: package.json names it, and it exports nothing',
  ])
})
