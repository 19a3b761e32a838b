import { cp, readdir, rm } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { defineConfig, type Options } from 'tsup'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

const PACKAGES = resolve('../../packages')

/** Other packages come as sources: of a source only what is used gets into a bundle. */
const SOURCES = {
  '@delta/model/openai': `${PACKAGES}/model/src/openai.ts`,
  '@delta/sessions/main': `${PACKAGES}/sessions/src/main.ts`,
  ...Object.fromEntries(
    (await readdir(PACKAGES)).map((folder) => [`@delta/${folder}`, `${PACKAGES}/${folder}/src/index.ts`]),
  ),
}

/** Each is one file that needs no other. What is imported when it is needed is a bundle of its own, under this name. */
const BUNDLES: Record<string, string> = {
  start: resolve('src/start.ts'),
  main: resolve('src/main.ts'),
  program: resolve('src/program.ts'),
  openai: SOURCES['@delta/model/openai'],
  atip: `${PACKAGES}/atip/src/index.ts`,
  ...Object.fromEntries(
    (await readdir('src/commands')).map((file) => [basename(file, '.ts'), resolve('src/commands', file)]),
  ),
}

/** Makes an `import()` of a bundle's entry a `require` of that bundle. */
const separateBundles: Plugin = {
  name: 'separate-bundles',
  setup(build) {
    build.onResolve({ filter: /.*/ }, async ({ path, kind, ...from }) => {
      if (kind !== 'dynamic-import') return undefined
      const found = await build.resolve(path, { ...from, kind: 'import-statement' })
      const name = Object.keys(BUNDLES).find((bundle) => BUNDLES[bundle] === found.path)
      return name === undefined ? undefined : { path: `./${name}.cjs`, external: true }
    })
  },
}

/** Everything is bundled, so that an install is one package; one bundle a command, so that a start loads little. */
export default defineConfig({
  entry: BUNDLES,
  format: 'cjs',
  target: 'node20',
  platform: 'node',
  clean: true,
  minify: true,
  silent: true,
  shims: true,
  noExternal: [/.*/],
  esbuildPlugins: [separateBundles],
  esbuildOptions(options) {
    options.alias = SOURCES
    options.charset = 'ascii'
    options.supported = { ...options.supported, 'dynamic-import': false }
  },
  async onSuccess() {
    await rm('compiled', { recursive: true, force: true })
    await cp('templates', 'dist/templates', { recursive: true })
    await cp('../../examples/1-basics/hello-world', 'dist/templates/hello-world', {
      recursive: true,
      filter: (path) => !path.includes('workspaces') && !path.endsWith('README.md'),
    })
  },
})
