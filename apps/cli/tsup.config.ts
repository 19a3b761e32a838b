import { existsSync, realpathSync } from 'node:fs'
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Options } from 'tsup'
import { thirdPartyLicenses } from './third-party.js'

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

const PACKAGES = resolve('../../packages')

/** Other packages come as sources: of a source only what is used gets into a bundle. */
const SOURCES: Record<string, string> = Object.fromEntries(
  (await Promise.all((await readdir(PACKAGES)).map(sourcesOf))).flat(),
)

/** Each entry of a package's `exports`, and the source it is built from. */
async function sourcesOf(folder: string): Promise<[string, string][]> {
  const { exports } = JSON.parse(await readFile(`${PACKAGES}/${folder}/package.json`, 'utf8'))
  return Object.keys(exports)
    .filter((key) => !key.endsWith('.json'))
    .map((key) => [
      `@delta/${folder}${key.slice(1)}`,
      `${PACKAGES}/${folder}/src/${key.slice(2) || 'index'}.ts`,
    ])
}

/** What src/commands-that-run.ts brings together. */
const COMMANDS_THAT_RUN = ['run', 'continue', 'fork', 'replay', 'eval']
/** What src/commands-with-mcp.ts brings together. */
const COMMANDS_WITH_MCP = ['mcp-import', 'mcp-keep', 'mcp-serve']

/** Each is one file that needs no other. What is imported when it is needed is a bundle of its own, under this name. */
const BUNDLES: Record<string, string> = {
  start: resolve('src/start.ts'),
  main: resolve('src/main.ts'),
  program: resolve('src/program.ts'),
  errors: resolve('src/errors.ts'),
  openai: `${PACKAGES}/model/src/openai.ts`,
  anthropic: `${PACKAGES}/model/src/anthropic.ts`,
  prices: `${PACKAGES}/model/src/prices.ts`,
  atip: `${PACKAGES}/atip/src/index.ts`,
  yaml: fileURLToPath(import.meta.resolve('yaml')),
  'commands-that-run': resolve('src/commands-that-run.ts'),
  'commands-with-mcp': resolve('src/commands-with-mcp.ts'),
  ...Object.fromEntries(
    (await readdir('src/commands'))
      .map((file) => basename(file, '.ts'))
      .filter((command) => ![...COMMANDS_THAT_RUN, ...COMMANDS_WITH_MCP].includes(command))
      .map((command) => [command, resolve('src/commands', `${command}.ts`)]),
  ),
}

const SIGNALS = realpathSync(`${PACKAGES}/view/node_modules/@preact/signals`)

/** What `npm pack` of the package takes, but for its package.json: of a package in a package only name and version count. */
const TOOLS = (await readdir(`${PACKAGES}/tools`)).filter((file) => /^lib$|\.(?:yaml|mjs)$/.test(file))

/** What Vite bundles into the page of `delta view`. */
const IN_PAGE = [`${PACKAGES}/view/node_modules/preact`, SIGNALS, resolve(SIGNALS, '../signals-core')]

/** Makes an `import()` of a bundle's entry a `require` of that bundle, and any import of `yaml`, which src/start.ts loads when it is used. */
const separateBundles: Plugin = {
  name: 'separate-bundles',
  setup(build) {
    build.onResolve({ filter: /^yaml$/ }, () => ({ path: './yaml.cjs', external: true }))
    build.onResolve({ filter: /.*/ }, async ({ path, kind, ...from }) => {
      if (kind !== 'dynamic-import') return undefined
      const found = await build.resolve(path, { ...from, kind: 'import-statement' })
      const name = Object.keys(BUNDLES).find((bundle) => BUNDLES[bundle] === found.path)
      return name === undefined ? undefined : { path: `./${name}.cjs`, external: true }
    })
  },
}

/** Makes each bundle what `src/start.ts` runs: a function in ASCII. The first is the one that node itself loads. */
async function finishBundles(directory: string): Promise<void> {
  for (const name of Object.keys(BUNDLES)) {
    const path = `${directory}/${name}.cjs`
    const text = inAscii(await readFile(path, 'utf8'))
    const isFirst = name === 'start'
    await writeFile(
      path,
      isFirst ? text : `(function (exports, require, module, __filename, __dirname) {${text}\n})`,
    )
  }
}

/** esbuild leaves regular expressions as they are written; an escape means the same everywhere in JavaScript. */
function inAscii(text: string): string {
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Everything is bundled, so that an install is one package; one bundle a command or a few, so that a start loads little. */
export default defineConfig({
  entry: BUNDLES,
  format: 'cjs',
  target: 'node20',
  platform: 'node',
  clean: true,
  minify: true,
  removeNodeProtocol: false,
  silent: true,
  noExternal: [/.*/],
  loader: { '.py': 'text' }, // the program of Python sessions
  esbuildPlugins: [separateBundles, thirdPartyLicenses('dist/third-party-notices.txt', IN_PAGE)],
  esbuildOptions(options) {
    options.alias = SOURCES
    options.define = { ...options.define, 'import.meta.dirname': '__dirname' }
    options.charset = 'ascii'
    options.supported = {
      ...options.supported,
      'dynamic-import': false,
      'regexp-unicode-property-escapes': true, // or they are compiled again at each use
    }
  },
  async onSuccess() {
    await finishBundles('dist')
    await rm('compiled', { recursive: true, force: true })
    for (const owner of ['config-loader', 'evals'])
      await cp(`../../packages/${owner}/schemas`, 'dist/schemas', { recursive: true })
    await cp('templates', 'dist/templates', { recursive: true })
    for (const file of TOOLS)
      await cp(`${PACKAGES}/tools/${file}`, `dist/packages/@delta/tools/${file}`, { recursive: true })
    const { name, version, type } = JSON.parse(await readFile(`${PACKAGES}/tools/package.json`, 'utf8'))
    await writeFile('dist/packages/@delta/tools/package.json', JSON.stringify({ name, version, type }))
    const page = '../../packages/view/dist/assets' // the demo is built without it
    if (existsSync(page)) await cp(page, 'dist/assets', { recursive: true })
    await cp('../../examples/1-basics/hello-world', 'dist/templates/hello-world', {
      recursive: true,
      filter: (path) => !/workspaces|README\.md$|\.test\.ts$/.test(path),
    })
    for (const file of ['agent.yaml', 'context.yaml']) {
      const path = `dist/templates/hello-world/${file}`
      await writeFile(path, (await readFile(path, 'utf8')).replace(/(?<=\$schema=)\S*\//, '.schemas/'))
    }
  },
})
