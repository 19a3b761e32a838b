import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { tool } from './lib/environment.mjs'
import { withPackedPackages } from './lib/pack.mjs'
import { capture } from './lib/step.mjs'

/**
 * What publint and attw say about a package as it would be published, and whether it carries what it should.
 *
 * @param {import('./lib/pack.mjs').Packed} packed
 * @returns {Promise<string[]>} problems
 */
async function checkPackage({ tarball, directory, isLibrary }) {
  const problems = ['README.md', 'LICENSE']
    .filter((file) => !existsSync(join(directory, file)))
    .map((file) => `${file} is not in the package`)

  const publint = await capture(tool('publint', 'run', '--strict', tarball))
  if (publint.code !== 0) problems.push(publint.output)

  if (!isLibrary) return problems // nobody imports the command line, so it has no types
  const attw = await capture(
    tool('attw', tarball, '--profile', 'esm-only', '--no-definitely-typed', '--no-color', '--no-emoji'),
  )
  // attw is content with a package that has lost its types.
  if (attw.code !== 0 || attw.output.includes('does not contain types')) problems.push(attw.output)
  return problems
}

process.exitCode = await withPackedPackages(async (packages) => {
  let failed = 0
  for (const packed of packages) {
    const problems = await checkPackage(packed)
    for (const problem of problems) console.error(`${packed.name}: ${problem}`)
    failed += problems.length > 0 ? 1 : 0
  }
  console.log(
    failed === 0 ? `${packages.length} packages are in order.` : `${failed} packages are not in order.`,
  )
  return failed === 0 ? 0 : 1
})
