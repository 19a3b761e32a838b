import { cp } from 'node:fs/promises'
import { defineConfig } from 'tsup'
import { thirdPartyLicenses } from './third-party.js'

/** Everything is bundled and split by command, so that an install is one package and a start loads little. */
export default defineConfig({
  entry: ['src/main.ts'],
  format: 'esm',
  target: 'node20',
  platform: 'node',
  clean: true,
  splitting: true,
  noExternal: [/.*/],
  esbuildPlugins: [thirdPartyLicenses('dist/THIRD-PARTY-LICENSES.txt')],
  silent: true,
  esbuildOptions(options) {
    // packages without side effects import their own chunks for the sake of order only
    options.logOverride = { 'ignored-bare-import': 'silent' }
  },
  // commander and other CommonJS code asks for Node's modules with require
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  async onSuccess() {
    await cp('templates', 'dist/templates', { recursive: true })
    await cp('../../examples/1-basics/hello-world', 'dist/templates/hello-world', {
      recursive: true,
      filter: (path) => !path.includes('workspaces') && !path.endsWith('README.md'),
    })
  },
})
