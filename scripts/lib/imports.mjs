import ts from 'typescript'

/**
 * @typedef {{ specifier: string | undefined, line: number, later: boolean }} Import
 *   `specifier` is undefined when an `import()` computes it; `line` is 1-based; `later` is true for `import()`, which
 *   loads nothing before it is called
 */

/**
 * Everything a TypeScript or JavaScript file imports: `import`, `export … from`, `import()`, `require()`,
 * `import x = require()`, and types written as `import('x').Y`.
 *
 * @param {string} text
 * @param {string} fileName its ending decides how the text is parsed
 * @returns {Import[]}
 */
export function findImports(text, fileName) {
  const file = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest)
  /** @type {Import[]} */
  const found = []

  /** @param {import('typescript').Node} node */
  function visit(node) {
    const specifier = specifierOf(node)
    if (specifier) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart(file))
      found.push({
        specifier: ts.isStringLiteralLike(specifier) ? specifier.text : undefined,
        line: line + 1,
        later: ts.isCallExpression(node) && isImportCall(node),
      })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/**
 * The expression that names the module, when this node imports one.
 *
 * @param {import('typescript').Node} node
 * @returns {import('typescript').Node | undefined}
 */
function specifierOf(node) {
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return node.moduleSpecifier
  if (ts.isExternalModuleReference(node)) return node.expression
  if (ts.isImportTypeNode(node))
    return ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument
  if (!ts.isCallExpression(node)) return undefined
  const isRequire = ts.isIdentifier(node.expression) && node.expression.text === 'require'
  return isImportCall(node) || isRequire ? node.arguments[0] : undefined
}

/** @param {import('typescript').CallExpression} node */
function isImportCall(node) {
  return node.expression.kind === ts.SyntaxKind.ImportKeyword
}
