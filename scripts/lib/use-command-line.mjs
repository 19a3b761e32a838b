import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder, foreignImports } from './files.mjs'
import { inside, install } from './install.mjs'
import { runOrThrow } from './pack.mjs'
import { copyExamples } from './scratch.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

const LIMIT_BYTES = 6 * 1024 * 1024

/**
 * The command line is one package: one command, nothing that it needs is left out, and it is small.
 *
 * @param {string} directory
 * @param {Packed} cli
 */
export async function useCommandLine(directory, cli) {
  await install(directory, [cli])
  assertAlone(directory, cli)
  assertComplete(join(directory, 'node_modules', '@delta', 'cli'))

  const version = await runOrThrow(['npx', 'delta', '--version'], inside(directory))
  if (version.trim() !== cli.manifest.version) throw new Error(`delta --version prints ${version}`)

  copyExamples(join(directory, 'examples'))
  await runAgent(directory, ['npx', 'delta'], join('examples', '1-basics', 'hello-world'))
  await runOrThrow(['npx', '@delta/cli', 'init', 'made here'], inside(directory))
  await runAgent(directory, ['npx', '@delta/cli'], 'made here')
  console.log(`${cli.name} runs agents from ${formatSize(join(directory, 'node_modules'))}.`)
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
  if (bytes > LIMIT_BYTES)
    throw new Error(`The command line takes ${bytes} bytes; ${LIMIT_BYTES} are allowed`)
}

/**
 * What the bundle imports is in it, and so are the licences of what it bundles.
 *
 * @param {string} directory of the installed package
 */
function assertComplete(directory) {
  // where a proxy asks for Negotiate, https-proxy-agent looks for it, and says that it must be installed
  const missing = foreignImports(directory).filter((found) => !found.endsWith("imports 'kerberos'"))
  if (missing.length > 0) throw new Error(`Not in the package: ${missing.join(', ')}`)
  const licenses = join('dist', 'third-party-notices.txt')
  if (!existsSync(join(directory, licenses))) throw new Error(`${licenses} is not in the package`)
}

/**
 * @param {string} directory
 * @param {string[]} command
 * @param {string} agent
 */
async function runAgent(directory, command, agent) {
  const workspace = mkdtempSync(join(directory, 'workspace-'))
  const argv = [...command, 'run', '--agent', agent, '-w', workspace, '-m', 'What is here?']
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
  return filesUnder(directory).reduce((sum, path) => sum + lstatSync(path).size, 0)
}

/** @param {string} directory */
function formatSize(directory) {
  return `${(sizeOf(directory) / 1024 / 1024).toFixed(1)} MB`
}
