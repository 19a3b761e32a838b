/**
 * The dependency diagram: who may import whom. `dependency-rules.mjs` forbids everything else.
 *
 * @typedef {object} Layer
 * @property {string[]} imports packages of ours that it may import, by folder name
 * @property {true} [pure] no built-in module of Node.js either: it must run in a browser
 * @property {true} [isPlain] its files are published as they lie there: nothing is built of them, and nothing can be imported
 * @property {true} [testOnly] may be a devDependency of anyone, and a dependency of no one
 */

/** @type {Record<string, Layer>} by folder */
export const layers = {
  'apps/cli': {
    imports: [
      'workspace',
      'evals',
      'view',
      'trace',
      'engine',
      'config-loader',
      'context',
      'executor',
      'sessions',
      'atip-execute',
      'atip',
      'tool-adapters',
      'mcp',
      'tool-expander',
      'journal',
      'durable',
      'model',
      'snapshots',
      'stats',
      'settings',
    ],
  },
  'packages/workspace': { imports: ['engine', 'config-loader', 'executor', 'journal', 'durable'] },
  'packages/evals': {
    imports: ['workspace', 'engine', 'config-loader', 'executor', 'journal', 'model', 'durable', 'stats'],
  },
  'packages/view': { imports: ['trace'] },
  'packages/trace': { imports: ['executor', 'journal', 'model', 'snapshots'] },
  'packages/engine': {
    imports: [
      'config-loader',
      'context',
      'executor',
      'journal',
      'model',
      'tool-expander',
      'durable',
      'snapshots',
    ],
  },
  'packages/config-loader': {
    imports: ['context', 'executor', 'model', 'tool-expander', 'atip', 'settings'],
  },
  'packages/context': { imports: ['executor', 'journal', 'model', 'durable', 'settings'] },
  'packages/executor': { imports: ['tool-expander', 'model', 'durable', 'settings'] },
  'packages/mcp': { imports: ['executor', 'journal', 'durable', 'settings'] },
  'packages/sessions': { imports: ['executor', 'durable'] },
  'packages/atip-execute': { imports: ['atip', 'executor', 'tool-expander'] },
  'packages/atip': { imports: ['tool-expander', 'settings'] },
  'packages/tool-adapters': { imports: ['executor', 'tool-expander'] },
  'packages/tool-expander': { imports: [], pure: true },
  'packages/journal': { imports: ['durable'] },
  'packages/model': { imports: [] },
  'packages/snapshots': { imports: [] },
  'packages/stats': { imports: [], pure: true },
  'packages/settings': { imports: [], pure: true },
  'packages/durable': { imports: [] },
  'packages/tools': { imports: [], isPlain: true },
  'packages/testkit': { imports: [], testOnly: true },
}
