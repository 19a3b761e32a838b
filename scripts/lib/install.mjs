import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testEnvironment } from './environment.mjs'
import { runOrThrow } from './pack.mjs'

/** @typedef {import('./pack.mjs').Packed} Packed */

/**
 * Installs packages as a stranger would: plain npm, an empty directory, nothing of the repository around.
 *
 * @param {string} directory
 * @param {Packed[]} packages
 * @param {string[]} [others] what else to install, as npm takes it: `name@range`
 */
export async function install(directory, packages, others = []) {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "private": true, "type": "module" }\n')
  await runOrThrow(
    ['npm', 'install', ...packages.map((packed) => packed.tarball), ...others],
    inside(directory),
  )
}

/**
 * How commands are run in such a directory.
 *
 * @param {string} cwd
 */
export function inside(cwd) {
  return { cwd, env: testEnvironment(), timeoutMs: 300_000 }
}
