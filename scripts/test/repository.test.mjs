import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { areInstalled } from '../../packages/testkit/dist/index.js'
import { layers } from '../layers.mjs'
import { root } from '../lib/environment.mjs'
import { capture } from '../lib/step.mjs'

/** Those that a program imports. */
const libraries = Object.keys(layers).filter(
  (folder) => folder !== 'apps/cli' && !layers[folder]?.testOnly && !layers[folder]?.isPlain,
)

test('the lockfile pins no host: whoever installs decides where packages come from', () => {
  const lockfile = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  expect(lockfile).toMatch(/^lockfileVersion:/)
  expect(lockfile.match(/^.*(https?:\/\/|git\+|tarball:).*$/gm)).toBeNull()
})

test.skipIf(!areInstalled('git'))('no file names the host of a package registry', async () => {
  const hosts = '(registry\\.(npmjs|yarnpkg|npmmirror)\\.|npm\\.pkg\\.github\\.)'
  const { stdout, output } = await capture(['git', 'grep', '--no-index', '--exclude-standard', '-nIE', hosts])
  expect(output).toBe('')
  expect(stdout).toBe('')
})

/** Until the first release somebody else could own the name of a package, and so answer for it. */
test.skipIf(!areInstalled('git'))('no file names the URL of a published package', async () => {
  const urls = '(unpkg\\.com|jsdelivr\\.net|esm\\.sh|npmjs\\.com/package)'
  const { stdout } = await capture(['git', 'grep', '--no-index', '--exclude-standard', '-nIE', urls])
  expect(stdout.split('\n').filter((line) => line && !line.startsWith('scripts/test/'))).toEqual([])
})

test.skipIf(!areInstalled('git'))(
  'each schema that a YAML file of the clone names for editors is there',
  async () => {
    const { stdout } = await capture(['git', 'grep', '-nI', 'yaml-language-server', '--', '*.yaml'])
    const named = [...stdout.matchAll(/^(.*?):1:.*\$schema=(\S+)$/gm)].map(([, file = '', schema = '']) => {
      const directory = schema.startsWith('.schemas/') ? 'packages/config-loader/schemas' : dirname(file)
      return join(root, directory, schema.replace('.schemas/', '')) // delta init copies them into an agent
    })
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((path) => !existsSync(path))).toEqual([])
  },
)

test('the map in the README has every published package of the diagram, with what it may import', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const rows = [...readme.matchAll(/^\| \[[\w-]+\]\((.+?)\) \| .+? \| (.*)\|$/gm)]
  const map = rows.map(([, folder, imports = '']) => [folder, imports.split(',').map((name) => name.trim())])
  const drawn = Object.entries(layers).filter(([, layer]) => !layer.testOnly)
  const expected = drawn.map(([folder, layer]) => {
    const isEverything = layer.imports.length === drawn.filter(([, { isPlain }]) => !isPlain).length - 1
    return [folder, isEverything ? ['everything below'] : layer.imports.length === 0 ? [''] : layer.imports]
  })
  expect(map).toEqual(expected)
})

test('each package of the repository is in the diagram, and depends on no other of ours than the diagram draws', () => {
  const folders = ['packages', 'apps'].flatMap((parent) =>
    readdirSync(join(root, parent)).map((name) => `${parent}/${name}`),
  )
  expect(folders.sort()).toEqual(Object.keys(layers).sort())
  for (const [folder, { imports }] of Object.entries(layers)) {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    expect(manifest.name).toBe(`@delta/${basename(folder)}`)
    const { dependencies, peerDependencies, optionalDependencies, devDependencies } = manifest
    const shipped = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })
    const ours = [
      ...shipped,
      ...Object.keys(devDependencies ?? {}).filter((name) => name !== '@delta/testkit'),
    ]
    const undrawn = ours.filter((name) => name.startsWith('@delta/') && !imports.includes(basename(name)))
    expect(undrawn, folder).toEqual([])
  }
})

test('the references of each package for `tsc -b` are what its package.json names, so that what depends on a change is checked again', () => {
  for (const folder of Object.keys(layers).filter((name) => name !== 'apps/cli' && !layers[name]?.isPlain)) {
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    )
    expect(referencesOf(join(root, folder, 'src')), folder).toEqual(sourcesOf(dependencies))
    const imported = [...sourcesOf({ ...dependencies, ...devDependencies }), join(root, folder, 'src')]
    expect(referencesOf(join(root, folder)), folder).toEqual(imported.sort())
  }
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8'))
  expect(referencesOf(join(root, 'apps/cli'))).toEqual(sourcesOf(devDependencies))
  const others = ['examples', 'examples/embedding', 'packages/view/web', 'scripts']
  const checked = [...Object.keys(layers), ...others].map((folder) => join(root, folder))
  expect(referencesOf(root)).toEqual(checked.sort())
})

test('each published package has the licence, which `npm pack` takes along', () => {
  const licence = readFileSync(join(root, 'LICENSE'), 'utf8')
  for (const folder of Object.keys(layers).filter((name) => !layers[name]?.testOnly))
    expect(readFileSync(join(root, folder, 'LICENSE'), 'utf8'), folder).toBe(licence)
})

test('the README of every library says what to install, and its first program needs no more', () => {
  for (const folder of libraries) {
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    const [, line = ''] = /^```sh\nnpm install (.*)\n```$/m.exec(readme) ?? []
    const [, example = ''] = /^<!-- example: (\S+) -->$/m.exec(readme) ?? []
    const program = readFileSync(join(root, folder, example), 'utf8')
    const needed = [...program.matchAll(/^.*\bfrom '((?:@[^/']+\/)?[^/':.]+)(?:\/[^']*)?'$/gm)].map(
      ([, name]) => name,
    )
    expect(line.split(' '), folder).toEqual(expect.arrayContaining([folder.replace('packages', '@delta')]))
    expect(line.split(' '), folder).toEqual(expect.arrayContaining(needed))
  }
})

test('the README of every library names each function, class and constant that it exports', async () => {
  for (const folder of libraries) {
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    const names = (await Promise.all(entriesOf(folder).map((path) => import(path)))).flatMap(Object.keys)
    const missing = names.filter((name) => !new RegExp(`\\b${name}\\b`).test(readme))
    expect(missing, folder).toEqual([])
  }
})

test('the README of every library lists only what it exports', async () => {
  for (const folder of libraries) {
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    const exported = (await Promise.all(entriesOf(folder).map((path) => import(path)))).flatMap(Object.keys)
    const functions = [...readme.matchAll(/^- `(\w+)\(/gm)].map(([, name]) => name)
    const constants = [...readme.matchAll(/^- `[A-Z]+_[A-Z_]+`[^:]*/gm)].flatMap(([list]) =>
      list.match(/[A-Z]+_[A-Z_]+/g),
    )
    expect(exported, folder).toEqual(expect.arrayContaining([...functions, ...constants]))
  }
})

/**
 * The built files that strangers may import. `./internal` is for siblings, without a promise.
 *
 * @param {string} folder
 */
function entriesOf(folder) {
  const { exports } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
  delete exports['./internal']
  const targets = Object.values(exports).map((entry) => (typeof entry === 'string' ? entry : entry.default))
  return targets.filter((target) => target.endsWith('.js')).map((target) => join(root, folder, target))
}

/**
 * The directories that a `tsconfig.json` references, sorted.
 *
 * @param {string} directory
 * @returns {string[]}
 */
function referencesOf(directory) {
  const { references = [] } = JSON.parse(readFileSync(join(directory, 'tsconfig.json'), 'utf8'))
  return references.map((/** @type {{ path: string }} */ { path }) => join(directory, path)).sort()
}

/**
 * Where the sources are of those that are ours.
 *
 * @param {Record<string, string>} [dependencies]
 */
function sourcesOf(dependencies = {}) {
  const ours = Object.keys(dependencies).filter((name) => name.startsWith('@delta/'))
  return ours.map((name) => join(root, name.replace('@delta', 'packages'), 'src')).sort()
}
