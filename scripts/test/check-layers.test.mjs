import { expect, test } from 'vitest'
import { checkLayers } from '../check-layers.mjs'
import { root } from '../lib/environment.mjs'
import { temporaryTree } from './temporary.mjs'

const diagram = {
  'apps/cli': { imports: ['upper', 'lower'] },
  'packages/upper': { imports: ['lower'] },
  'packages/lower': { imports: [], pure: /** @type {const} */ (true) },
  'packages/testkit': { imports: [], testOnly: /** @type {const} */ (true) },
}

const sound = {
  'apps/cli/package.json': {
    name: '@delta/cli',
    devDependencies: { '@delta/upper': '*', '@delta/lower': '*' },
  },
  'apps/cli/src/main.ts': `import { up } from '@delta/upper'\nexport const main = () => up`,
  'packages/upper/package.json': {
    name: '@delta/upper',
    dependencies: { '@delta/lower': '*' },
    devDependencies: { '@delta/testkit': '*' },
  },
  'packages/upper/src/index.ts': `import { readFileSync } from 'node:fs'\nexport * from '@delta/lower'\nexport { x } from './x.js'`,
  'packages/upper/test/index.test.ts': `import '@delta/testkit'\nimport '@delta/upper'\nimport '../src/index.js'`,
  'packages/lower/package.json': { name: '@delta/lower' },
  'packages/lower/src/index.ts': `// import 'node:fs'\nexport const low = "import '@delta/upper'"`,
  'packages/testkit/package.json': { name: '@delta/testkit' },
}

/**
 * What is said about the sound tree with some files changed.
 *
 * @param {Record<string, string | object | undefined>} changes
 * @param {Record<string, import('../layers.mjs').Layer>} [changedDiagram]
 */
function problemsWith(changes, changedDiagram = diagram) {
  return checkLayers(temporaryTree({ ...sound, ...changes }), changedDiagram)
}

test('imports that point down, comments, strings, tests of a package and the test kit are all allowed', () => {
  expect(problemsWith({})).toEqual([])
})

test('the diagram holds in this repository', () => {
  expect(checkLayers(root)).toEqual([])
})

test('a dependency that points up is a violation in every section of package.json', () => {
  for (const section of ['dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies']) {
    const manifest = { name: '@delta/lower', [section]: { '@delta/upper': '*' } }
    expect(problemsWith({ 'packages/lower/package.json': manifest })).toEqual([
      `packages/lower/package.json: ${section} has @delta/upper, which the diagram does not allow`,
    ])
  }
})

test('the test kit may be a devDependency of anyone and a dependency of no one', () => {
  const manifest = { name: '@delta/lower', dependencies: { '@delta/testkit': '*' } }
  expect(problemsWith({ 'packages/lower/package.json': manifest })).toEqual([
    'packages/lower/package.json: dependencies has @delta/testkit, which the diagram does not allow',
  ])
})

test('a shipped file that imports the test kit is a violation even though package.json may name it', () => {
  expect(problemsWith({ 'packages/upper/src/index.ts': `import '@delta/testkit'` })).toEqual([
    "packages/upper/src/index.ts:1: '@delta/testkit': the diagram does not allow this import",
  ])
})

test.each([
  ['an import', `import { up } from '@delta/upper'`],
  ['a type import', `import type { Up } from '@delta/upper'`],
  ['a re-export', `export { up } from '@delta/upper'`],
  ['a dynamic import', `const up = async () => await import('@delta/upper')`],
  ['a dynamic import in backticks', 'const up = import(`@delta/upper`)'],
  ['a dynamic import over several lines', `const up = import(/* later */\n'@delta/upper')`],
  ['a require', `const up = require('@delta/upper')`],
  ['an import equals', `import up = require('@delta/upper')`],
  ['an imported type expression', `type Up = import('@delta/upper').Up`],
  ['a subpath', `import '@delta/upper/deep'`],
])('%s that points up is a violation', (_kind, text) => {
  const [problem, ...others] = problemsWith({ 'packages/lower/src/deep/file.ts': `\n${text}` })
  expect(problem).toMatch(
    /^packages\/lower\/src\/deep\/file\.ts:2: '@delta\/upper(\/deep)?' is not in this package's package.json$/,
  )
  expect(others).toEqual([])
})

test('an import that package.json declares and the diagram forbids is reported twice: there and at the import', () => {
  const changes = {
    'packages/lower/package.json': { name: '@delta/lower', dependencies: { '@delta/upper': '*' } },
    'packages/lower/src/index.ts': `import '@delta/upper'`,
  }
  expect(problemsWith(changes)).toEqual([
    'packages/lower/package.json: dependencies has @delta/upper, which the diagram does not allow',
    "packages/lower/src/index.ts:1: '@delta/upper': the diagram does not allow this import",
  ])
})

test('a computed import is a violation in shipped code, because nobody can check it', () => {
  expect(
    problemsWith({ 'packages/upper/src/index.ts': 'export const load = (name) => import(name)' }),
  ).toEqual([
    'packages/upper/src/index.ts:1: imports a computed path, which nobody can check; import a literal one',
  ])
})

test('a computed import is allowed in a file that the diagram names as a loader', () => {
  const text = 'export const load = (name) => require(name)'
  const drawn = { ...diagram, 'packages/upper': { imports: ['lower'], loaders: ['src/load.ts'] } }
  expect(problemsWith({ 'packages/upper/src/load.ts': text }, drawn)).toEqual([])
  expect(problemsWith({ 'packages/upper/src/other.ts': text }, drawn)).toHaveLength(1)
})

test('a relative import that leaves its package is a violation, in tests too', () => {
  const text = `import '../../lower/src/index.js'`
  const reason = "'../../lower/src/index.js' leaves the package; import @delta/… by name"
  expect(problemsWith({ 'packages/upper/src/a.ts': text, 'packages/upper/test/b.test.ts': text })).toEqual([
    `packages/upper/src/a.ts:1: ${reason}`,
    `packages/upper/test/b.test.ts:1: ${reason}`,
  ])
})

test('a sibling folder whose name begins with the package’s name is outside the package', () => {
  expect(problemsWith({ 'packages/upper/src/a.ts': `import '../../upper-two/a.js'` })).toHaveLength(1)
})

test('a package that must run in a browser imports no built-in module, with the node: prefix or without', () => {
  expect(problemsWith({ 'packages/lower/src/index.ts': `import 'node:fs'\nimport 'path'` })).toEqual([
    "packages/lower/src/index.ts:1: 'node:fs': this package must run without Node.js",
    "packages/lower/src/index.ts:2: 'path': this package must run without Node.js",
  ])
  expect(problemsWith({ 'packages/lower/test/a.test.ts': `import 'node:fs'` })).toEqual([])
})

test('a package that imports itself by name in shipped code is a violation: it would load a second copy', () => {
  expect(problemsWith({ 'packages/lower/src/a.ts': `import '@delta/lower'` })).toEqual([
    "packages/lower/src/a.ts:1: '@delta/lower' is this package; import the file",
  ])
})

test('files of a package that import each other in a circle are a violation, types included', () => {
  const circle = {
    'packages/lower/src/a.ts': `import type { B } from './b.js'\nexport type A = B[]`,
    'packages/lower/src/b.ts': `import type { A } from './c.js'\nexport type B = { inner: A }`,
    'packages/lower/src/c.ts': `export type { A } from './a.js'`,
  }
  expect(problemsWith(circle)).toEqual([
    'packages/lower: files import each other in a circle: src/a.ts -> src/b.ts -> src/c.ts -> src/a.ts',
  ])
})

test('folders of a package that import each other are a violation, though no files do', () => {
  const folders = {
    'packages/lower/src/read/line.ts': `export const line = 1`,
    'packages/lower/src/read/all.ts': `import { append } from '../write/append.js'\nexport const all = [append]`,
    'packages/lower/src/write/append.ts': `import { line } from '../read/line.js'\nexport const append = line`,
  }
  expect(problemsWith(folders)).toEqual([
    'packages/lower: folders import each other in a circle: src/read/ -> src/write/ -> src/read/',
  ])
})

test('a circle is allowed among files that the diagram names, and one that import() closes is none', () => {
  const circle = {
    'packages/lower/src/grammar/word.ts': `import { command } from './command.js'\nexport const word = () => command()`,
    'packages/lower/src/grammar/command.ts': `import { word } from './word.js'\nexport const command = () => word()`,
    'packages/lower/src/table.ts': `export const help = () => import('./help.js')`,
    'packages/lower/src/help.ts': `import { help } from './table.js'\nexport const names = [help]`,
  }
  const grammar = {
    ...diagram,
    'packages/lower': { ...diagram['packages/lower'], circles: ['src/grammar/'] },
  }
  expect(problemsWith(circle, grammar)).toEqual([])
})

test('a folder that the diagram does not know is a violation, and so is a package that is missing', () => {
  const changes = {
    'packages/utils/package.json': { name: '@delta/utils' },
    'packages/testkit/package.json': undefined,
  }
  expect(problemsWith(changes)).toEqual([
    'packages/utils: is not in the diagram (scripts/layers.mjs)',
    'packages/testkit: is in the diagram and has no package.json',
  ])
})

test('a package is named after its folder', () => {
  expect(problemsWith({ 'packages/lower/package.json': { name: '@delta/lowest' } })).toEqual([
    'packages/lower/package.json: is named @delta/lowest, not @delta/lower',
  ])
})

test('a cycle in the diagram itself is a violation', () => {
  const cyclic = { ...diagram, 'packages/lower': { imports: ['upper'] } }
  expect(problemsWith({}, cyclic)).toContain('scripts/layers.mjs: a cycle: upper -> lower -> upper')
})

test('a name in the diagram that is no package is a violation', () => {
  const unknown = { ...diagram, 'packages/lower': { imports: ['lowest'] } }
  expect(problemsWith({}, unknown)).toContain(
    'scripts/layers.mjs: lower may import lowest, which is no package',
  )
})
