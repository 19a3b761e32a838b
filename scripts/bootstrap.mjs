import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { manifest, nodeProblem, pnpm } from './lib/environment.mjs'
import { step } from './lib/step.mjs'
import { buildTypes, SOURCES } from './lib/types.mjs'

/**
 * From a fresh clone to built packages, with nothing but Node.js and npm.
 *
 * Every step runs every time: pnpm, turbo and tsc know what is already done, and take a second to say so.
 *
 * @param {{ only?: string, declarations?: boolean }} [options] `only`: the one package whose JavaScript is built, without
 *   the page of `delta view`; by default everything. `declarations`: those of the libraries, too, with every problem of their
 *   types; nothing that runs needs them
 * @returns {Promise<boolean>} false when a step failed; what it printed has then been shown
 */
export async function bootstrap({ only, declarations = false } = {}) {
  const problem = nodeProblem(process.versions.node)
  if (problem) {
    console.error(problem)
    return false
  }
  // A node_modules linked from another store is replaced, not asked about: there may be nobody to answer.
  const install = pnpm('install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false')
  const tasks = only ? ['build', `--filter=${only}`, '--only'] : ['build', 'build:libraries']
  const build = pnpm('exec', 'turbo', 'run', ...tasks, '--output-logs=errors-only', '--ui=stream')
  return (
    (await step(`Installing dependencies with ${manifest.packageManager}`, install)) &&
    (await step(only ? `Building ${only}` : 'Building the packages', build)) &&
    (!declarations || (await step('Writing their declarations', buildTypes(...SOURCES))))
  )
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = (await bootstrap({ declarations: true })) ? 0 : 1
}
