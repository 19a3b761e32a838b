import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { layers } from '../layers.mjs'
import { root, manifest as rootManifest } from './environment.mjs'
import { filesUnder } from './files.mjs'
import { readManifest } from './pack.mjs'

/**
 * @typedef {import('./pack.mjs').Packed} Packed
 * @typedef {{ path: string, bytes: number, isExecutable: boolean }} PublishedFile
 */

const NOTICES = join('dist', 'third-party-notices.txt')
const LICENSES = /^(MIT|ISC|BSD-2-Clause|BSD-3-Clause|Apache-2\.0|0BSD|\(MIT OR [\w.-]+\))$/
const FOREIGN_RANGE = /^(workspace|catalog|link|file|portal|git|https?):|^\*?$/
const STRAY = /(^|\/)(test|node_modules|\.[^/]*|[^/]*\.(test\.[jt]s|tsbuildinfo|tgz))(\/|$)/

/**
 * Why a package must not be published as it was packed.
 *
 * @param {Packed} packed
 * @param {Packed[]} all what is published together
 * @returns {string[]} one sentence each, without the package's name
 */
export function publicationProblems(packed, all) {
  return [
    ...manifestProblems(packed),
    ...dependencyProblems(packed, all),
    ...fileProblems(packed),
    ...noticeProblems(packed),
  ]
}

const CLI = '@delta/cli'

/**
 * The command line bundles other packages, so their users get a change of one only with a new version of the command line, and
 * no dependency makes changesets give it one.
 *
 * @param {string[]} changesets the texts of those that wait
 * @returns {string[]}
 */
export function changesetProblems(changesets) {
  const released = new Set(changesets.flatMap(releasedBy))
  const changed = bundledPackages().filter((name) => released.has(name))
  if (changed.length === 0 || released.has(CLI)) return []
  return [
    `${CLI} bundles ${changed.join(', ')}, so a changeset must release it, too: add "${CLI}": patch to one`,
  ]
}

/** Those of ours whose code or files are in the command line, by name. */
function bundledPackages() {
  const { devDependencies } = readManifest('apps/cli')
  const found = new Set(ours(devDependencies).filter((name) => !readManifest(folderOf(name)).private))
  for (const name of found)
    for (const needed of ours(readManifest(folderOf(name)).dependencies)) found.add(needed)
  const plain = Object.keys(layers).filter((folder) => layers[folder]?.isPlain)
  return [...found, ...plain.map((folder) => readManifest(folder).name)].sort()
}

/** @param {Record<string, string>} [dependencies] */
function ours(dependencies = {}) {
  return Object.keys(dependencies).filter((name) => name.startsWith('@delta/'))
}

/** @param {string} name */
function folderOf(name) {
  return name.replace('@delta', 'packages')
}

/** @param {string} changeset */
function releasedBy(changeset) {
  const [, header = ''] = changeset.split(/^---$/m)
  return [...header.matchAll(/^["'](.+?)["']:/gm)].map(([, name = '']) => name)
}

/** @param {Packed} packed */
function manifestProblems({ folder, manifest }) {
  const { license, repository, homepage, bugs, engines, publishConfig, description, author, keywords } =
    manifest
  /** @type {[boolean, string][]} */
  const rules = [
    [manifest.private !== true, 'is private'],
    [/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(manifest.version), `has the version ${manifest.version}`],
    [Boolean(description), 'has no description'],
    [Boolean(author), 'has no author'],
    [Boolean(keywords?.length), 'has no keywords'],
    [license === rootManifest.license, `has the license ${license}, the repository ${rootManifest.license}`],
    [repository?.directory === folder, `repository.directory should be ${folder}: provenance compares it`],
    [/^git\+https:\/\/.+\.git$/.test(repository?.url ?? ''), 'repository.url should be git+https://….git'],
    [/^https:\/\/.+/.test(homepage ?? ''), 'has no homepage'],
    [/^https:\/\/.+/.test(bugs ?? ''), 'has no bugs address'],
    [engines?.node === rootManifest.engines.node, `engines.node should be ${rootManifest.engines.node}`],
    [
      publishConfig?.access === 'public',
      'publishConfig.access should be public: npm takes a scope for private',
    ],
    [publishConfig?.provenance === true, 'publishConfig.provenance should be true'],
  ]
  return rules.flatMap(([holds, problem]) => (holds ? [] : [problem]))
}

/**
 * @param {Packed} packed
 * @param {Packed[]} all
 */
function dependencyProblems({ manifest }, all) {
  const { dependencies, peerDependencies, optionalDependencies } = manifest
  return Object.entries({ ...dependencies, ...peerDependencies, ...optionalDependencies }).flatMap(
    ([name, range]) => {
      if (FOREIGN_RANGE.test(range)) return [`needs ${name} ${range}, which npm cannot resolve`]
      if (!name.startsWith('@delta/')) return []
      const version = all.find((packed) => packed.name === name)?.manifest.version
      if (version === undefined) return [`needs ${name}, which is not published`]
      return range === `^${version}` ? [] : [`needs ${name} ${range}, and ^${version} is what is published`]
    },
  )
}

/** @param {Packed} packed */
function fileProblems(packed) {
  const { directory, manifest } = packed
  const missing = ['README.md', 'LICENSE']
  if (manifest.version !== '0.0.0') missing.push('CHANGELOG.md') // the first version brings it
  const problems = missing
    .filter((file) => !existsSync(join(directory, file)))
    .map((file) => `${file} is not in the package`)
  const changelog = join(directory, 'CHANGELOG.md')
  if (existsSync(changelog) && !readFileSync(changelog, 'utf8').includes(`\n## ${manifest.version}\n`)) {
    problems.push(`CHANGELOG.md says nothing about ${manifest.version}`)
  }
  for (const { path, isExecutable } of publishedFiles(packed)) {
    // pnpm takes the right to execute from every file but those in `bin` and `publishConfig.executableFiles`.
    if (!isExecutable && mayBeExecuted(join(root, packed.folder, path)))
      problems.push(`${path} can no longer be executed: list it under publishConfig.executableFiles`)
    if (STRAY.test(path)) problems.push(`${path} does not belong into a package`)
    if (readFileSync(join(directory, path)).includes(`${root}/`))
      problems.push(`${path} names a directory of the machine that built it`)
  }
  return problems
}

/**
 * A package that brings other people's code along brings their licences, and they are ones that may go along.
 *
 * @param {Packed} packed
 */
function noticeProblems(packed) {
  if (packed.isLibrary || packed.isPlain) return []
  const licenses = bundledLicenses(packed)
  if (licenses.length === 0) return [`${NOTICES} lists no package, and the command line is a bundle`]
  return licenses
    .filter(({ license }) => !LICENSES.test(license))
    .map(({ name, license }) => `bundles ${name} under ${license}, which nobody has agreed to`)
}

/**
 * The packages whose code is bundled into this one, as its notices list them.
 *
 * @param {Packed} packed
 * @returns {{ name: string, license: string }[]} `name` is with the version
 */
export function bundledLicenses({ directory }) {
  const path = join(directory, NOTICES)
  if (!existsSync(path)) return []
  const sections = readFileSync(path, 'utf8').split(/^-{80}\n\n/m)
  return sections.flatMap((section) => {
    const heading = /^(\S+ \S+) \((.+)\)\n/.exec(section)
    return heading ? [{ name: heading[1] ?? '', license: heading[2] ?? '' }] : []
  })
}

/**
 * @param {Packed} packed
 * @returns {PublishedFile[]} in alphabetical order
 */
export function publishedFiles({ directory }) {
  const files = filesUnder(directory).map((path) => ({
    path: relative(directory, path),
    bytes: lstatSync(path).size,
    isExecutable: mayBeExecuted(path),
  }))
  return files.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** @param {string} path */
function mayBeExecuted(path) {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & 0o111) !== 0
}
