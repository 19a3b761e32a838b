import { tool } from './environment.mjs'
import { capture } from './step.mjs'

/**
 * What publint and attw say about a package as it would be published.
 *
 * @param {import('./pack.mjs').Packed} packed
 * @returns {Promise<string[]>} problems
 */
export async function checkPackage({ tarball, isLibrary }) {
  const problems = []
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
