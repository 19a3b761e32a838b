import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root directory. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** @type {{ packageManager: string, license: string, engines: { node: string } }} */
export const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** What may stay of npm's settings: where packages come from and where caches lie. */
const KEPT_SETTING =
  /^npm_config_(registry|cache|store_dir|cache_dir|userconfig|globalconfig|cafile|ca|strict_ssl|proxy|http_proxy|https_proxy|noproxy|offline|prefer_offline|fetch_\w+|network_\w+|@.*|\/\/.*)$/i

/** Set by whoever started us (npm, pnpm, a git hook); each would change what a child does. */
const LEAKED =
  /^(npm_|pnpm_script_src_dir$|init_cwd$|node$|node_env$|git_(dir|work_tree|index_file|prefix)$)/i

/**
 * The environment for the commands our scripts start.
 *
 * `npm run` exports its own settings as `npm_config_*`, which pnpm would obey (`omit`, `workspace`,
 * `global` …), and `NODE_ENV=production` would leave out the tools we build with.
 *
 * @param {NodeJS.ProcessEnv} base
 * @returns {NodeJS.ProcessEnv}
 */
export function cleanEnvironment(base = process.env) {
  const kept = Object.entries(base).filter(([name]) => KEPT_SETTING.test(name) || !LEAKED.test(name))
  return {
    ...Object.fromEntries(kept),
    npm_config_update_notifier: 'false',
    npm_config_fund: 'false',
    npm_config_audit: 'false',
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
  }
}

/**
 * The same without the keys and settings of the person at the machine, so that nothing under test finds them; where their runs are
 * listed stays, for one may be gone on with.
 *
 * @param {NodeJS.ProcessEnv} base
 * @returns {NodeJS.ProcessEnv}
 */
export function testEnvironment(base = process.env) {
  const entries = Object.entries(cleanEnvironment(base)).filter(
    ([name]) => !/^(DELTA_(?!STATE_DIR)|OPENAI_)/.test(name),
  )
  return Object.fromEntries(entries)
}

/**
 * The command line that runs the pnpm this repository names in `packageManager`, wherever npm is.
 *
 * @param {string[]} args
 */
export function pnpm(...args) {
  const exact = manifest.packageManager.replace(/\+.*$/, '') // a hash may follow; npx does not know it
  return ['npx', '-y', exact, ...args]
}

/**
 * The command line of a tool that the root package.json installs.
 *
 * @param {string} name
 * @param {string[]} args
 */
export function tool(name, ...args) {
  return [join(root, 'node_modules', '.bin', name), ...args]
}

/**
 * Why this Node.js cannot be used, or undefined when it can.
 *
 * @param {string} version such as `20.19.0`
 * @param {string} floor such as `>=20.19`
 */
export function nodeProblem(version, floor = manifest.engines.node) {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [floorMajor = 0, floorMinor = 0] = floor.replace(/^\D+/, '').split('.').map(Number)
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) return undefined
  return `Delta Engine needs Node.js ${floorMajor}.${floorMinor} or newer, and this is ${version}.
Install a newer one (nvm, fnm, volta, your system's packages) and start again.`
}

/**
 * Why vitest would find no tests in this directory, or undefined when it can: it takes paths for URLs.
 *
 * @param {string} directory
 */
export function pathProblem(directory) {
  if (!/[#?%]/.test(directory)) return undefined
  return `The tests cannot run in ${directory}: vitest finds no files below a path with #, ? or %.
Move this directory to another path and start again.`
}
