import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { manifest, nodeProblem, pnpm } from './lib/environment.mjs'
import { step } from './lib/step.mjs'

/**
 * From a fresh clone to built packages, with nothing but Node.js and npm.
 *
 * Every step runs every time: pnpm and turbo know what is already done, and take a second to say so.
 *
 * @param {{ only?: string }} [options] `only`: the package to build, with what it needs to run; by default every package
 * @returns {Promise<boolean>} false when a step failed; what it printed has then been shown
 */
export async function bootstrap({ only } = {}) {
  const problem = nodeProblem(process.versions.node)
  if (problem) {
    console.error(problem)
    return false
  }
  // A node_modules linked from another store is replaced, not asked about: there may be nobody to answer.
  const install = pnpm('install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false')
  const filter = only ? ['--only', `--filter=${only}...`, '--filter=!@delta/testkit'] : []
  const build = pnpm('exec', 'turbo', 'run', 'build', ...filter, '--output-logs=errors-only', '--ui=stream')
  return (
    (await step(`Installing dependencies with ${manifest.packageManager}`, install)) &&
    (await step(only ? `Building ${only}` : 'Building the packages', build))
  )
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = (await bootstrap()) ? 0 : 1
}
