/**
 * The dependency diagram: who may import whom. Everything not listed is forbidden.
 *
 * @typedef {object} Layer
 * @property {string[]} imports packages of ours that it may import, by folder name
 * @property {string[]} [loaders] files that may import computed paths: they load what this package is built into
 * @property {string[]} [circles] files, or folders ending in `/`, that may import each other in a circle, as the parts of a
 *   recursive grammar do
 * @property {true} [pure] no built-in module of Node.js either: it must run in a browser
 * @property {true} [testOnly] may be a devDependency of anyone, and a dependency of no one
 */

/** @type {Record<string, Layer>} by folder */
export const layers = {
  'apps/cli': {
    imports: [
      'engine',
      'config-loader',
      'context',
      'executor',
      'sessions',
      'atip-execute',
      'atip',
      'tool-adapters',
      'tool-expander',
      'journal',
      'durable',
      'model',
    ],
    loaders: ['src/start.ts'],
  },
  'packages/engine': {
    imports: ['config-loader', 'context', 'executor', 'journal', 'model', 'tool-expander', 'durable'],
  },
  'packages/config-loader': { imports: ['context', 'executor', 'model', 'tool-expander', 'atip'] },
  'packages/context': { imports: ['executor', 'journal', 'model', 'durable'] },
  'packages/executor': { imports: ['tool-expander', 'durable'] },
  'packages/sessions': { imports: ['executor', 'durable'] },
  'packages/atip-execute': { imports: ['atip', 'executor', 'tool-expander'] },
  'packages/atip': { imports: ['executor', 'tool-expander'] },
  'packages/tool-adapters': { imports: ['executor', 'tool-expander'] },
  'packages/tool-expander': {
    imports: [],
    pure: true,
    circles: ['src/shell/'], // the shell's grammar: words hold commands, commands hold words
  },
  'packages/journal': { imports: ['durable'] },
  'packages/model': { imports: [] },
  'packages/durable': { imports: [] },
  'packages/testkit': { imports: [], testOnly: true },
}
