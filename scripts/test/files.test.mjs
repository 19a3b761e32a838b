import { expect, test } from 'vitest'
import { foreignImports } from '../lib/files.mjs'
import { temporaryTree } from './temporary.mjs'

test('a built package that imports something it does not carry is found out, wherever the import hides', () => {
  const directory = temporaryTree({
    'bin.js': `import { main } from './dist/main.js'`,
    'dist/main.js': `import { readFileSync } from 'node:fs'\nimport path from 'path'\nexport const main = () => import('./late.js')`,
    'dist/late.js': `export const load = () => import('openai')`,
    'dist/old.cjs': `if (process.env.NEVER) require('yaml')`,
  })
  expect(foreignImports(directory).sort()).toEqual([
    "dist/late.js imports 'openai'",
    "dist/old.cjs imports 'yaml'",
  ])
})
