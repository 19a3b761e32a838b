import { layers } from './layers.mjs'

/** What dependency-cruiser forbids: every import that the diagram does not draw. */
export default {
  forbidden: [
    ...Object.entries(layers).flatMap(([folder, { imports, pure, testOnly }]) => [
      ...(testOnly ? [] : [onlyDrawn(folder, imports)]),
      ...(pure ? [withoutNode(folder)] : []),
    ]),
    {
      name: 'no-test-kit-in-what-is-shipped',
      severity: 'error',
      from: { path: '^(packages|apps)/(?!testkit/)[^/]+/src/' },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'no-relative-import-leaves-its-package',
      comment: 'it would make a second copy of every class there',
      severity: 'error',
      from: { path: '^((packages|apps)/[^/]+)/' },
      to: { dependencyTypes: ['local'], pathNot: '^$1/' },
    },
    {
      name: 'no-circle',
      comment: 'to understand one of its files, a reader must open them all',
      severity: 'error',
      from: { path: '/src/', pathNot: '^packages/tool-expander/src/shell/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['dynamic-import'] } },
    },
    {
      name: 'no-circle-of-folders',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(packages|apps)/[^/]+/src/.' },
      to: { circular: true },
    },
    {
      name: 'no-import-of-what-is-not-there',
      comment: 'or that its package.json does not name',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true, // imports of types count
    doNotFollow: { path: '(^|/)(node_modules|dist)/' },
    exclude: { path: '^(packages|apps)/[^/]+/(dist|node_modules|[.]turbo)/.*[.]map$' },
    combinedDependencies: false,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'default'] },
  },
}

/**
 * @param {string} folder
 * @param {string[]} imports
 */
function onlyDrawn(folder, imports) {
  const drawn = [folder.slice(folder.indexOf('/') + 1), 'testkit', ...imports]
  return {
    name: `${folder}-imports-only-what-the-diagram-draws`,
    severity: /** @type {const} */ ('error'),
    from: { path: `^${folder}/` },
    to: { path: '^(packages|apps)/', pathNot: `^(packages|apps)/(${drawn.join('|')})/` },
  }
}

/** @param {string} folder */
function withoutNode(folder) {
  return {
    name: `${folder}-runs-without-node`,
    severity: /** @type {const} */ ('error'),
    from: { path: `^${folder}/src/` },
    to: { dependencyTypes: ['core'] },
  }
}
