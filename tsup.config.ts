import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'

const FOLDERS = readdirSync('packages').filter((folder) => existsSync(`packages/${folder}/src`))

/** What one library needs besides. */
const SPECIAL: Record<string, Options> = {
  sessions: { splitting: false, loader: { '.py': 'text' } },
  testkit: { entry: { index: 'packages/testkit/src/index.ts', server: 'packages/testkit/src/server.ts' } },
  'tool-expander': { platform: 'neutral' },
}

/** The JavaScript of a library, from the entries that its package.json names. `tsc -b` writes the declarations beside it, which stay. */
function library(folder: string): Options {
  return {
    entry: Object.fromEntries(entriesOf(folder).map(({ name, source }) => [name, source])),
    outDir: `packages/${folder}/dist`,
    format: 'esm',
    tsconfig: 'tsconfig.base.json',
    skipNodeModulesBundle: true,
    clean: ['!**/*.d.ts', '!tsconfig.tsbuildinfo', '!bin', '!assets'],
    silent: true,
    ...SPECIAL[folder],
  }
}

/** `delta-sessions` as one file that needs no other: finding and loading modules is most of what its start costs. */
const commandOfSessions: Options = {
  entry: { main: 'packages/sessions/src/main.ts' },
  outDir: 'packages/sessions/dist/bin',
  format: 'cjs',
  target: 'node20',
  tsconfig: 'tsconfig.base.json',
  minify: true,
  removeNodeProtocol: false,
  noExternal: [/.*/],
  loader: { '.py': 'text' },
  clean: true,
  silent: true,
  esbuildOptions(options) {
    const sources = FOLDERS.flatMap(entriesOf).map(({ specifier, source }) => [specifier, `./${source}`])
    options.alias = Object.fromEntries(sources)
  },
}

/** What a package exports: how it is imported, the name of the built file, and the source. */
function entriesOf(folder: string): { specifier: string; name: string; source: string }[] {
  const { exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, 'utf8'))
  const keys = Object.keys(exports).filter((key) => !key.endsWith('.json'))
  return keys.map((key) => {
    const name = key.slice(2) || 'index'
    return { specifier: `@delta/${folder}${key.slice(1)}`, name, source: `packages/${folder}/src/${name}.ts` }
  })
}

/** Everything in one process: starting one for each package takes longer than building all of them. */
export default defineConfig([...FOLDERS.map(library), commandOfSessions])
