import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root, tool } from './environment.mjs'

/** The projects that write the declarations of a library. */
export const SOURCES = readdirSync(join(root, 'packages'))
  .map((folder) => join('packages', folder, 'src'))
  .filter((source) => modified(source) !== undefined)

/**
 * The command line of `tsc -b`. It looks for changes in our own files only, so with another lockfile it begins anew.
 *
 * @param {string[]} projects by default everything
 */
export function buildTypes(...projects) {
  const lockfile = modified('pnpm-lock.yaml') ?? 0
  const folders = ['apps/cli', 'examples', 'examples/embedding', 'scripts']
  for (const folder of readdirSync(join(root, 'packages')))
    folders.push(`packages/${folder}`, `packages/${folder}/dist`)
  const isOld = folders.some((folder) => (modified(`${folder}/tsconfig.tsbuildinfo`) ?? lockfile) < lockfile)
  return tool('tsc', '-b', ...(isOld ? ['--force'] : []), ...projects)
}

/**
 * When a file was last changed, or undefined if it is missing.
 *
 * @param {string} path from the root
 */
function modified(path) {
  return statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs
}
