import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join, relative } from 'node:path'
import { root, testEnvironment, tool } from './lib/environment.mjs'
import { findImports } from './lib/imports.mjs'
import { filesUnder, runOrThrow, withPackedPackages } from './lib/pack.mjs'
import { copyExamples } from './lib/scratch.mjs'

/** @typedef {import('./lib/pack.mjs').Packed} Packed */

const CLI_LIMIT_BYTES = 6 * 1024 * 1024

/**
 * Installs packages as a stranger would: plain npm, an empty directory, nothing of the repository around.
 *
 * @param {string} directory
 * @param {Packed[]} packages
 */
async function install(directory, packages) {
  mkdirSync(directory)
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  await runOrThrow(['npm', 'install', ...packages.map((packed) => packed.tarball)], inside(directory))
}

/** @param {string} cwd */
function inside(cwd) {
  return { cwd, env: testEnvironment(), timeoutMs: 300_000 }
}

/**
 * Every entry of every library can be imported, and its types stand on what was installed.
 *
 * @param {string} directory
 * @param {Packed[]} libraries
 */
async function useLibraries(directory, libraries) {
  await install(directory, libraries)
  const entries = libraries.flatMap(entriesOf)
  const lines = entries.map((entry, index) => `import * as module${index} from '${entry}'`)
  const names = entries.map((_, index) => `module${index}`)
  const program = `${lines.join('\n')}
const entries = ${JSON.stringify(entries)}
const empty = [${names}].flatMap((module, index) => Object.keys(module).length === 0 ? [entries[index]] : [])
if (empty.length > 0) throw new Error('These export nothing: ' + empty.join(', '))
`
  writeFileSync(join(directory, 'use.js'), program)
  await runOrThrow([process.execPath, 'use.js'], inside(directory))
  await checkTypes(directory, lines)
  console.log(`${entries.length} entries of ${libraries.length} libraries can be imported.`)
}

/** @param {Packed} packed */
function entriesOf({ name, manifest }) {
  const paths = Object.keys(manifest.exports ?? {}).filter((path) => path !== './package.json')
  return paths.map((path) => name + path.slice(1))
}

/**
 * @param {string} directory
 * @param {string[]} lines import statements
 */
async function checkTypes(directory, lines) {
  writeFileSync(join(directory, 'use.ts'), `${lines.join('\n')}\nexport {}\n`)
  const options = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  }
  writeFileSync(
    join(directory, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: options, files: ['use.ts'] }),
  )
  await runOrThrow(tool('tsc', '-p', '.'), inside(directory))
}

/**
 * The command line is one package: one command, nothing that it needs is left out, and it is small.
 *
 * @param {string} directory
 * @param {Packed} cli
 */
async function useCommandLine(directory, cli) {
  await install(directory, [cli])
  assertAlone(directory, cli)
  assertComplete(join(directory, 'node_modules', '@delta', 'cli'))

  const version = await runOrThrow(['npx', 'delta', '--version'], inside(directory))
  if (version.trim() !== cli.manifest.version) throw new Error(`delta --version prints ${version}`)

  copyExamples(join(directory, 'examples'))
  for (const [index, command] of [['delta'], ['@delta/cli']].entries()) {
    const workspace = join(directory, `workspace-${index}`)
    mkdirSync(workspace)
    await runHello(directory, workspace, ['npx', ...command])
  }
  console.log(`${cli.name} runs an agent from ${formatSize(join(directory, 'node_modules'))}.`)
}

/**
 * @param {string} directory
 * @param {Packed} cli
 */
function assertAlone(directory, { manifest }) {
  const bins = Object.keys(manifest.bin ?? {})
  if (bins.join() !== 'delta') throw new Error(`npx would not know which command to start: ${bins}`)
  const needs = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies }
  const installed = readdirSync(join(directory, 'node_modules')).filter((name) => !name.startsWith('.'))
  if (Object.keys(needs).length > 0 || installed.join() !== '@delta') {
    throw new Error(`The command line has runtime dependencies: ${Object.keys(needs)} ${installed}`)
  }
  const bytes = sizeOf(join(directory, 'node_modules'))
  if (bytes > CLI_LIMIT_BYTES)
    throw new Error(`The command line takes ${bytes} bytes; ${CLI_LIMIT_BYTES} are allowed`)
}

/**
 * No file imports a package that is not there, not even on a path that no test takes.
 *
 * @param {string} directory
 */
function assertComplete(directory) {
  for (const path of filesUnder(directory).filter((file) => /\.[cm]?js$/.test(file))) {
    for (const { specifier, line } of findImports(readFileSync(path, 'utf8'), path)) {
      if (specifier === undefined || specifier.startsWith('.') || isBuiltin(specifier)) continue
      throw new Error(
        `${relative(directory, path)}:${line} imports '${specifier}', which is not in the package`,
      )
    }
  }
}

/**
 * @param {string} directory
 * @param {string} workspace
 * @param {string[]} command
 */
async function runHello(directory, workspace, command) {
  const agent = join('examples', '1-basics', 'hello-world')
  const argv = [...command, 'run', '--agent', agent, '-w', workspace, '-m', 'Say hello.']
  const answer = await runOrThrow(argv, inside(directory))
  if (answer.trim() === '') throw new Error(`$ ${argv.join(' ')}\nprints no answer`)

  const stateDirectory = join(workspace, '.delta')
  const runId = readFileSync(join(stateDirectory, 'LATEST'), 'utf8').trim()
  const lines = readFileSync(join(stateDirectory, runId, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  const end = JSON.parse(lines.at(-1) ?? 'null')
  if (end?.type !== 'ENGINE_END' || end.status !== 'COMPLETED') {
    throw new Error(`The journal ends with ${lines.at(-1)}`)
  }
}

/** @param {string} directory */
function sizeOf(directory) {
  return filesUnder(directory).reduce((sum, path) => sum + (existsSync(path) ? statSync(path).size : 0), 0)
}

/** @param {string} directory */
function formatSize(directory) {
  return `${(sizeOf(directory) / 1024 / 1024).toFixed(1)} MB`
}

/**
 * @param {() => Promise<void>} use
 * @returns {Promise<boolean>} whether it went well; otherwise the reason has been printed
 */
async function succeeds(use) {
  try {
    await use()
    return true
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return false
  }
}

process.exitCode = await withPackedPackages(async (packages, directory) => {
  const libraries = packages.filter((packed) => packed.isLibrary)
  const [cli, ...others] = packages.filter((packed) => !packed.isLibrary)
  if (!cli || others.length > 0) throw new Error('There should be one application, the command line')
  const results = [
    await succeeds(() => useLibraries(join(directory, 'libraries'), libraries)),
    await succeeds(() => useCommandLine(join(directory, 'command line'), cli)),
  ]
  return results.every(Boolean) ? 0 : 1
})
