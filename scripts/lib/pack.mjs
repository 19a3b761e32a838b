import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { layers } from '../layers.mjs'
import { pnpm, root } from './environment.mjs'
import { capture } from './step.mjs'

/**
 * @typedef {object} Packed one public package, as it would be published
 * @property {string} name `@delta/journal`
 * @property {string} folder `packages/journal`
 * @property {string} tarball absolute path of the .tgz
 * @property {string} directory the unpacked content
 * @property {PackedManifest} manifest the package.json inside
 * @property {boolean} isLibrary false for the command line, and for a plain package
 * @property {true} [isPlain] see `Layer`
 *
 * @typedef {Record<string, string>} Strings
 * @typedef {{ name: string, version: string, private?: boolean, description?: string, author?: string,
 *   keywords?: string[], license?: string, homepage?: string,
 *   bugs?: string, repository?: { url: string, directory?: string }, engines?: { node?: string },
 *   publishConfig?: { access?: string, provenance?: boolean }, exports?: Record<string, unknown>, bin?: Strings,
 *   dependencies?: Strings, devDependencies?: Strings, peerDependencies?: Strings, optionalDependencies?: Strings,
 *   peerDependenciesMeta?: Record<string, { optional?: boolean }> }} PackedManifest
 */

/**
 * Packs every public package, hands the tarballs to `use`, and removes them when it is done.
 *
 * @template T
 * @param {(packages: Packed[], directory: string) => Promise<T>} use `directory` is a temporary one, outside the repository
 * @returns {Promise<T>}
 */
export async function withPackedPackages(use) {
  const directory = mkdtempSync(join(tmpdir(), 'delta-packed-'))
  try {
    const folders = Object.keys(layers).filter((folder) => !readManifest(folder).private)
    const filters = folders.map((folder) => `--filter=./${folder}`)
    await runOrThrow(pnpm(...filters, '--recursive', 'pack', '--pack-destination', directory))
    const packages = []
    for (const folder of folders) packages.push(await unpack(folder, directory))
    return await use(packages, directory)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/**
 * @param {string} name
 * @param {Packed[]} packages
 */
export function packedAs(name, packages) {
  const found = packages.find((packed) => packed.name === name)
  if (!found) throw new Error(`${name} is not published`)
  return found
}

/**
 * What npm would fetch with these packages.
 *
 * @param {string[]} names
 * @param {Packed[]} packages
 * @returns {Packed[]}
 */
export function packedWithDependencies(names, packages) {
  const found = new Set(names.map((name) => packedAs(name, packages)))
  for (const { manifest } of found) {
    const needed = Object.keys(manifest.dependencies ?? {}).filter((name) => name.startsWith('@delta/'))
    for (const name of needed) found.add(packedAs(name, packages))
  }
  return [...found]
}

/**
 * @param {string} folder
 * @param {string} parent
 * @returns {Promise<Packed>}
 */
async function unpack(folder, parent) {
  const { name, version } = readManifest(folder)
  const tarball = join(parent, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
  const unpacked = join(parent, 'unpacked', folder)
  mkdirSync(unpacked, { recursive: true })
  await runOrThrow(['tar', '-xzf', tarball, '-C', unpacked])
  const directory = join(unpacked, 'package')
  return {
    name,
    folder,
    tarball,
    directory,
    manifest: readManifest(directory),
    isLibrary: folder.startsWith('packages/') && !layers[folder]?.isPlain,
    ...(layers[folder]?.isPlain && { isPlain: true }),
  }
}

/**
 * @param {string} directory absolute, or from the repository's root
 * @returns {PackedManifest}
 */
export function readManifest(directory) {
  return JSON.parse(readFileSync(resolve(root, directory, 'package.json'), 'utf8'))
}

/**
 * @param {string[]} argv
 * @param {import('./step.mjs').CommandOptions} [options]
 * @returns {Promise<string>} its stdout
 */
export async function runOrThrow(argv, options) {
  const { code, stdout, output } = await capture(argv, options)
  if (code !== 0) throw new Error(`$ ${argv.join(' ')}\nends with exit code ${code} and prints:\n${output}`)
  return stdout
}
