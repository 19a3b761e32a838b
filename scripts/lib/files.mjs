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
    const foreign = importsIn(path).filter((name) => !name.startsWith('.') && !isBuiltin(name))
    return foreign.map((name) => `${relative(directory, path)} imports '${name}'`)
  })
}

/**
 * What a program names in `import`, `export … from`, `import()` and `require()`.
 *
 * @param {string} path
 */
function importsIn(path) {
  /** @type {string[]} */
  const found = []
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier)
    else if (ts.isCallExpression(node) && /^(require|import)$/.test(node.expression.getText()))
      add(node.arguments[0])
    ts.forEachChild(node, visit)
  }
  /** @param {ts.Node | undefined} name */
  const add = (name) => name && ts.isStringLiteralLike(name) && found.push(name.text)
  visit(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest, true))
  return found
}
