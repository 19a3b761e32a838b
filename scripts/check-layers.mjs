import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { layers } from './layers.mjs'
import { findCircles, findFolderCircles } from './lib/circles.mjs'
import { root } from './lib/environment.mjs'
import { filesUnder } from './lib/files.mjs'
import { findImports } from './lib/imports.mjs'

/**
 * @typedef {import('./layers.mjs').Layer} Layer
 * @typedef {Record<string, Layer>} Diagram
 * @typedef {Record<string, unknown> & { name?: string }} Manifest
 * @typedef {{ folder: string, directory: string, layer: Layer, manifest: Manifest, declared: Set<string> }} Member
 */

const PREFIX = '@delta/'
const DEPENDENCY_FIELDS = ['dependencies', 'peerDependencies', 'optionalDependencies', 'devDependencies']
const SOURCE = /\.(ts|tsx|mts|cts|js|mjs|cjs)$/

/**
 * Holds the diagram against a repository: every folder, every package.json, every import.
 *
 * @param {string} directory the repository's root
 * @param {Diagram} diagram
 * @returns {string[]} one sentence a violation, beginning with the file; empty when the diagram holds
 */
export function checkLayers(directory, diagram = layers) {
  const problems = [...checkDiagram(diagram), ...checkFolders(directory, diagram)]
  for (const [folder, layer] of Object.entries(diagram)) {
    if (!existsSync(join(directory, folder, 'package.json'))) continue // reported by checkFolders
    const member = readMember(directory, folder, layer)
    problems.push(
      ...checkManifest(member, diagram),
      ...checkSources(member, directory),
      ...checkCircles(member),
    )
  }
  return problems
}

/**
 * The diagram itself: known names only, and no way back up.
 *
 * @param {Diagram} diagram
 */
function checkDiagram(diagram) {
  /** @type {string[]} */
  const problems = []
  /** @type {(name: string, path: string[]) => void} */
  const descend = (name, path) => {
    const layer = diagram[folderOf(name, diagram)]
    if (path.includes(name)) problems.push(`scripts/layers.mjs: a cycle: ${[...path, name].join(' -> ')}`)
    else if (!layer)
      problems.push(`scripts/layers.mjs: ${path.at(-1)} may import ${name}, which is no package`)
    else for (const imported of layer.imports) descend(imported, [...path, name])
  }
  for (const folder of Object.keys(diagram)) descend(nameOf(folder), [])
  return [...new Set(problems)]
}

/**
 * @param {string} directory
 * @param {Diagram} diagram
 */
function checkFolders(directory, diagram) {
  const present = ['packages', 'apps'].flatMap((parent) => foldersIn(directory, parent))
  const strangers = present.filter((folder) => !diagram[folder])
  const missing = Object.keys(diagram).filter(
    (folder) => !existsSync(join(directory, folder, 'package.json')),
  )
  return [
    ...strangers.map((folder) => `${folder}: is not in the diagram (scripts/layers.mjs)`),
    ...missing.map((folder) => `${folder}: is in the diagram and has no package.json`),
  ]
}

/**
 * @param {string} directory
 * @param {string} parent
 */
function foldersIn(directory, parent) {
  if (!existsSync(join(directory, parent))) return []
  const entries = readdirSync(join(directory, parent), { withFileTypes: true })
  return entries.filter((entry) => entry.isDirectory()).map((entry) => `${parent}/${entry.name}`)
}

/**
 * @param {string} root
 * @param {string} folder
 * @param {Layer} layer
 * @returns {Member}
 */
function readMember(root, folder, layer) {
  const directory = join(root, folder)
  /** @type {Manifest} */
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const declared = new Set(DEPENDENCY_FIELDS.flatMap((field) => Object.keys(manifest[field] ?? {})))
  return { folder, directory, layer, manifest, declared }
}

/**
 * @param {Member} member
 * @param {Diagram} diagram
 */
function checkManifest({ folder, layer, manifest }, diagram) {
  const where = `${folder}/package.json`
  const expectedName = PREFIX + nameOf(folder)
  const problems =
    manifest.name === expectedName ? [] : [`${where}: is named ${manifest.name}, not ${expectedName}`]
  for (const field of DEPENDENCY_FIELDS) {
    for (const dependency of Object.keys(manifest[field] ?? {}).filter((name) => name.startsWith(PREFIX))) {
      const name = dependency.slice(PREFIX.length)
      const testOnly = diagram[folderOf(name, diagram)]?.testOnly
      const allowed = testOnly ? field === 'devDependencies' : layer.imports.includes(name)
      if (!allowed) problems.push(`${where}: ${field} has ${dependency}, which the diagram does not allow`)
    }
  }
  return problems
}

/**
 * @param {Member} member
 * @param {string} root
 */
function checkSources(member, root) {
  /** @type {string[]} */
  const problems = []
  for (const path of sourceFiles(member.directory)) {
    const file = relative(member.directory, path)
    const isShipped = file.startsWith(`src${sep}`)
    const isLoader = member.layer.loaders?.includes(file)
    for (const { specifier, line } of findImports(readFileSync(path, 'utf8'), path)) {
      const reason =
        specifier === undefined
          ? isShipped && !isLoader && 'imports a computed path, which nobody can check; import a literal one'
          : problemWith(specifier, path, member, isShipped)
      if (reason) problems.push(`${relative(root, path)}:${line}: ${reason}`)
    }
  }
  return problems
}

/** @param {Member} member */
function checkCircles({ folder, directory, layer }) {
  const paths = sourceFiles(directory)
  const circles = findCircles(directory, paths, layer.circles)
  const ofFolders = circles.length > 0 ? [] : findFolderCircles(directory, paths, layer.circles) // of which they would be the cause
  return [
    ...circles.map((files) => `${folder}: files import each other in a circle: ${files.join(' -> ')}`),
    ...ofFolders.map((names) => `${folder}: folders import each other in a circle: ${names.join(' -> ')}`),
  ]
}

/**
 * @param {string} specifier
 * @param {string} path the importing file
 * @param {Member} member
 * @param {boolean} isShipped true in src/; tests and examples may import more
 */
function problemWith(specifier, path, member, isShipped) {
  if (/^(\.|\/|file:)/.test(specifier)) {
    const target = specifier.startsWith('file:')
      ? fileURLToPath(specifier)
      : resolve(dirname(path), specifier)
    const leaves = target !== member.directory && !target.startsWith(member.directory + sep)
    return leaves && `'${specifier}' leaves the package; import @delta/… by name`
  }
  if (isBuiltin(specifier)) {
    return isShipped && member.layer.pure && `'${specifier}': this package must run without Node.js`
  }
  if (!specifier.startsWith(PREFIX)) return false
  return problemWithOurs(specifier, member, isShipped)
}

/**
 * @param {string} specifier `@delta/…`
 * @param {Member} member
 * @param {boolean} isShipped
 */
function problemWithOurs(specifier, { manifest, layer, declared }, isShipped) {
  const name = specifier.split('/')[1] ?? ''
  if (manifest.name === PREFIX + name) return isShipped && `'${specifier}' is this package; import the file`
  if (!declared.has(PREFIX + name)) return `'${specifier}' is not in this package's package.json`
  // In tests and examples package.json decides, and checkManifest has held it against the diagram.
  return (
    isShipped && !layer.imports.includes(name) && `'${specifier}': the diagram does not allow this import`
  )
}

/**
 * Every source file of a package, without what is built or installed.
 *
 * @param {string} directory
 */
function sourceFiles(directory) {
  const files = filesUnder(directory, (name) => !['node_modules', 'dist', '.turbo'].includes(name))
  return files.filter((path) => SOURCE.test(path))
}

/** @param {string} folder */
function nameOf(folder) {
  return folder.slice(folder.indexOf('/') + 1)
}

/**
 * @param {string} name
 * @param {Diagram} diagram
 */
function folderOf(name, diagram) {
  return Object.keys(diagram).find((folder) => nameOf(folder) === name) ?? ''
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problems = checkLayers(root)
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? 'The diagram holds.' : `${problems.length} violations of the diagram.`)
  process.exitCode = problems.length === 0 ? 0 : 1
}
