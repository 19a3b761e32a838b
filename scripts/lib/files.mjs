import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import ts from 'typescript'

/**
 * Every file under a directory, by absolute path.
 *
 * @param {string} directory
 * @param {(name: string) => boolean} enters which directories to look into
 * @returns {string[]}
 */
export function filesUnder(directory, enters = () => true) {
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.flatMap((entry) => {
    const path = join(directory, entry.name)
    if (!entry.isDirectory()) return [path]
    return enters(entry.name) ? filesUnder(path, enters) : []
  })
}

/**
 * The imports of a built package that lead out of it, to anything but Node.js: also those on paths that no test takes.
 *
 * @param {string} directory
 * @returns {string[]} `dist/main.js imports 'yaml'`
 */
export function foreignImports(directory) {
  const programs = filesUnder(directory).filter((path) => /\.[cm]?js$/.test(path))
  return programs.flatMap((path) => {
    const { importedFiles } = ts.preProcessFile(readFileSync(path, 'utf8'), true, true)
    const foreign = importedFiles.filter(({ fileName }) => !fileName.startsWith('.') && !isBuiltin(fileName))
    return foreign.map(({ fileName }) => `${relative(directory, path)} imports '${fileName}'`)
  })
}
