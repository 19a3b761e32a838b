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
  const nameOf = (/** @type {string} */ path) => relative(directory, path)
  const isAllowed = (/** @type {string} */ name) =>
    allowed.some((each) => name === each || (each.endsWith('/') && name.startsWith(each)))
  const graph = new Map(paths.map((path) => [nameOf(path), importsOf(path).map(nameOf)]))

  /** @type {string[][]} */
  const circles = []
  /** @type {Set<string>} */
  const left = new Set()
  /** @type {(name: string, trail: string[]) => void} */
  const follow = (name, trail) => {
    if (trail.includes(name)) circles.push([...trail.slice(trail.indexOf(name)), name])
    else if (!left.has(name)) {
      for (const imported of graph.get(name) ?? []) {
        if (!(isAllowed(name) && isAllowed(imported))) follow(imported, [...trail, name])
      }
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
