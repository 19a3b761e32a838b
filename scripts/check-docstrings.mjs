import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { root } from './lib/environment.mjs'

/**
 * What the published packages export without a docstring, so that an editor has nothing to say of it.
 *
 * @param {string} directory the repository's root
 * @returns {string[]} one sentence each, beginning with the place; empty when everything has one
 */
export function checkDocstrings(directory) {
  const packages = join(directory, 'packages')
  const entries = readdirSync(packages).flatMap((folder) => entriesOf(join(packages, folder)))
  const options = { module: ts.ModuleKind.NodeNext, noLib: true, types: [] }
  const host = ts.createCompilerHost(options)
  host.fileExists = (path) => !path.includes('/node_modules/') && ts.sys.fileExists(path) // each package answers for its own
  const program = ts.createProgram(entries, options, host)
  const checker = program.getTypeChecker()
  const problems = entries.flatMap((entry) => {
    const file = program.getSourceFile(entry)
    const module = file && checker.getSymbolAtLocation(file)
    if (!module) return [`${relative(directory, entry)}: package.json names it, and it exports nothing`]
    return checker.getExportsOfModule(module).flatMap((symbol) => {
      const meant = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
      const place = meant.declarations?.[0]
      if (place === undefined || meant.getDocumentationComment(checker).length > 0) return []
      const { line } = place.getSourceFile().getLineAndCharacterOfPosition(place.getStart())
      const where = `${relative(directory, place.getSourceFile().fileName)}:${line + 1}`
      return [`${where}: ${symbol.name} is exported without a docstring; say what its name does not`]
    })
  })
  return [...new Set(problems)]
}

/**
 * The sources of a published package's entries; none of a private one's.
 *
 * @param {string} directory
 */
function entriesOf(directory) {
  /** @type {{ private?: boolean, exports?: Record<string, { types?: string }> }} */
  const { private: isPrivate, exports = {} } = JSON.parse(
    readFileSync(join(directory, 'package.json'), 'utf8'),
  )
  const types = isPrivate ? [] : Object.values(exports).flatMap((entry) => entry.types ?? [])
  return types.map((path) => join(directory, 'src', basename(path).replace('.d.ts', '.ts')))
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problems = checkDocstrings(root)
  for (const problem of problems) console.error(problem)
  console.log(
    problems.length === 0
      ? 'All that is exported has a docstring.'
      : `${problems.length} without a docstring.`,
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}
