import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../lib/environment.mjs'
import { bundledLicenses, changesetProblems, publicationProblems, publishedFiles } from '../lib/published.mjs'
import { temporaryTree } from './temporary.mjs'

const manifest = {
  name: '@delta/sample',
  version: '1.2.3',
  description: 'A sample.',
  author: 'Somebody',
  keywords: ['sample'],
  license: 'MIT',
  repository: { url: 'git+https://example.com/sample.git', directory: 'packages/sample' },
  homepage: 'https://example.com/',
  bugs: 'https://example.com/issues',
  engines: { node: '>=20.19' },
  publishConfig: { access: 'public', provenance: true },
}
const files = { 'README.md': 'A sample.', LICENSE: 'MIT', 'CHANGELOG.md': '# Sample\n\n## 1.2.3\n' }

/**
 * @param {Partial<import('../lib/pack.mjs').PackedManifest>} changes
 * @param {Record<string, string | undefined>} otherFiles
 * @returns {import('../lib/pack.mjs').Packed}
 */
function packed(changes = {}, otherFiles = {}) {
  const directory = temporaryTree({ ...files, ...otherFiles })
  const common = { name: '@delta/sample', folder: 'packages/sample', tarball: '', directory, isLibrary: true }
  return { ...common, manifest: { ...manifest, ...changes } }
}

/** @param {import('../lib/pack.mjs').Packed} sample */
function problems(sample) {
  return publicationProblems(sample, [sample])
}

test('a package with everything in order may be published, and its files are listed with their sizes', () => {
  const sample = packed()
  expect(problems(sample)).toEqual([])
  expect(publishedFiles(sample)).toEqual([
    { path: 'CHANGELOG.md', bytes: 19, isExecutable: false },
    { path: 'LICENSE', bytes: 3, isExecutable: false },
    { path: 'README.md', bytes: 9, isExecutable: false },
  ])
})

test('settings without which npm would publish otherwise than we mean are problems', () => {
  const changes = {
    ...{ private: true, license: 'ISC', publishConfig: {}, engines: {}, homepage: '' },
    ...{ author: '', keywords: [] },
  }
  expect(problems(packed(changes))).toEqual([
    'is private',
    'has no author',
    'has no keywords',
    'has the license ISC, the repository MIT',
    'has no homepage',
    'engines.node should be >=20.19',
    'publishConfig.access should be public: npm takes a scope for private',
    'publishConfig.provenance should be true',
  ])
  expect(problems(packed({ repository: { url: 'x', directory: 'elsewhere' } }))).toEqual([
    'repository.directory should be packages/sample: provenance compares it',
    'repository.url should be git+https://….git',
  ])
})

test('a dependency that npm cannot resolve, or would resolve to another version of ours, is a problem', () => {
  const dependencies = {
    '@delta/sample': '^1.2.0',
    '@delta/testkit': '^1.0.0',
    a: 'workspace:^',
    b: '^2.0.0',
  }
  expect(problems(packed({ dependencies }))).toEqual([
    'needs @delta/sample ^1.2.0, and ^1.2.3 is what is published',
    'needs @delta/testkit, which is not published',
    'needs a workspace:^, which npm cannot resolve',
  ])
})

test('files that are missing, stray, or speak of the machine that built them are problems', () => {
  const otherFiles = {
    LICENSE: undefined,
    'CHANGELOG.md': '# Sample\n\n## 1.0.0\n',
    'dist/index.js': `import '${root}/packages/sample/src/index.ts'`,
    'dist/.env': 'KEY=1',
    'dist/index.test.ts': '',
  }
  expect(problems(packed({}, otherFiles))).toEqual([
    'LICENSE is not in the package',
    'CHANGELOG.md says nothing about 1.2.3',
    'dist/.env does not belong into a package',
    'dist/index.js names a directory of the machine that built it',
    'dist/index.test.ts does not belong into a package',
  ])
})

test('a program that the repository can execute and the package cannot is a problem', () => {
  const folder = 'apps/cli'
  const repository = { ...manifest.repository, directory: folder }
  const program = packed({ repository }, { 'path/delta': '#!/bin/sh\n', 'path/notes': '' })
  expect(problems({ ...program, folder })).toEqual([
    'path/delta can no longer be executed: list it under publishConfig.executableFiles',
  ])
  chmodSync(join(program.directory, 'path/delta'), 0o755)
  expect(problems({ ...program, folder })).toEqual([])
})

test('a bundle brings the licences of what it bundles, and only those that somebody has agreed to', () => {
  const rule = `\n${'-'.repeat(80)}\n\n`
  const notices = `a 1.0.0 (MIT)\n\nText.\n${rule}@b/c 2.0.0 (GPL-3.0)\n\nText.\n`
  const bundle = { ...packed({}, { 'dist/third-party-notices.txt': notices }), isLibrary: false }
  expect(bundledLicenses(bundle)).toEqual([
    { name: 'a 1.0.0', license: 'MIT' },
    { name: '@b/c 2.0.0', license: 'GPL-3.0' },
  ])
  expect(problems(bundle)).toEqual(['bundles @b/c 2.0.0 under GPL-3.0, which nobody has agreed to'])
  expect(problems({ ...packed(), isLibrary: false })).toEqual([
    'dist/third-party-notices.txt lists no package, and the command line is a bundle',
  ])
})

test('whenever a package is released that the command line bundles, the command line is released, too', () => {
  const changeset = (/** @type {string[]} */ ...names) =>
    `---\n${names.map((name) => `"${name}": patch`).join('\n')}\n---\n\n"@delta/cli": is only text here.\n`
  expect(changesetProblems([])).toEqual([])
  expect(changesetProblems([changeset('@delta/atip-execute')])).toEqual([])
  expect(changesetProblems([changeset('@delta/model', '@delta/engine')])).toEqual([
    '@delta/cli bundles @delta/engine, @delta/model, so a changeset must release it, too: add "@delta/cli": patch to one',
  ])
  expect(changesetProblems([changeset('@delta/model'), changeset('@delta/cli')])).toEqual([])
})
