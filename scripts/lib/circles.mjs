import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { findImports } from './imports.mjs'

/**
 * The circles in which files of one package import each other, types included: to understand one of them, a reader
 * must open them all. An `import()` closes no circle, because it loads nothing before it is called.
 *
 * @param {string} directory the package's
 * @param {string[]} paths its source files
 * @param {string[]} allowed files, or folders ending in `/`, that may import each other in a circle
 * @returns {string[][]} a circle each: its files, from `directory` on, the first one again at the end
 */
export function findCircles(directory, paths, allowed = []) {
  return circlesIn(graphOf(directory, paths, allowed))
}

/**
 * The circles in which the folders of `src/` import each other; a file that stands in none counts as a folder of its own.
 * Without one, each folder can be understood with those below it alone.
 *
 * @param {string} directory the package's
 * @param {string[]} paths its source files
 * @param {string[]} allowed as for `findCircles`
 * @returns {string[][]} a circle each, as of `findCircles`; folders end in `/`
 */
export function findFolderCircles(directory, paths, allowed = []) {
  const folderOf = (/** @type {string} */ name) => /^src\/[^/]+\//.exec(name)?.[0] ?? name
  /** @type {Graph} */
  const graph = new Map()
  for (const [name, imports] of graphOf(directory, paths, allowed)) {
    if (!name.startsWith('src/')) continue
    const folder = folderOf(name)
    const others = [...imports].map(folderOf).filter((other) => other !== folder)
    graph.set(folder, new Set([...(graph.get(folder) ?? []), ...others]))
  }
  return circlesIn(graph)
}

/**
 * What imports what, as paths from the package on, without the imports between files that may form a circle.
 *
 * @typedef {Map<string, Set<string>>} Graph
 * @param {string} directory
 * @param {string[]} paths
 * @param {string[]} allowed
 * @returns {Graph}
 */
function graphOf(directory, paths, allowed) {
  const nameOf = (/** @type {string} */ path) => relative(directory, path)
  const isAllowed = (/** @type {string} */ name) =>
    allowed.some((each) => name === each || (each.endsWith('/') && name.startsWith(each)))
  const entryOf = (/** @type {string} */ path) => {
    const name = nameOf(path)
    const imports = importsOf(path).map(nameOf)
    return /** @type {const} */ ([
      name,
      new Set(isAllowed(name) ? imports.filter((each) => !isAllowed(each)) : imports),
    ])
  }
  return new Map(paths.map(entryOf))
}

/** @param {Graph} graph */
function circlesIn(graph) {
  /** @type {string[][]} */
  const circles = []
  /** @type {Set<string>} */
  const left = new Set()
  /** @type {(name: string, trail: string[]) => void} */
  const follow = (name, trail) => {
    if (trail.includes(name)) circles.push([...trail.slice(trail.indexOf(name)), name])
    else if (!left.has(name)) {
      for (const imported of graph.get(name) ?? []) follow(imported, [...trail, name])
      left.add(name)
    }
  }
  for (const name of graph.keys()) follow(name, [])
  return circles
}

/**
 * The files that a file imports by a relative path, and loads at once.
 *
 * @param {string} path
 */
function importsOf(path) {
  const imports = findImports(readFileSync(path, 'utf8'), path).filter(({ later }) => !later)
  return imports.flatMap(({ specifier }) =>
    specifier?.startsWith('.') ? [sourceOf(resolve(dirname(path), specifier))] : [],
  )
}

/**
 * TypeScript is imported under the name it will have when it is built.
 *
 * @param {string} path
 */
function sourceOf(path) {
  const written = path.replace(/\.([cm]?)js$/, '.$1ts')
  return existsSync(written) ? written : path
}
