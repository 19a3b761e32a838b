/**
 * Measures everything anew, one after the other, and fills the documents: nothing else should run on the machine.
 *
 *   node benchmarks/all.mjs
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const benchmarks = readdirSync(here)
  .filter((name) => name.endsWith('.mjs'))
  .map((name) => join(here, name))
  .filter((path) => /^import .*\breport\b.* from '\.\/report\.mjs'$/m.test(readFileSync(path, 'utf8')))

// also what takes long, and what has to be installed: a goal that is not measured is not reached
const everything = ['--write', '--growth', '--peers']

for (const argv of [
  ...benchmarks.map((path) => [path, ...everything]),
  [join(here, '../scripts/readme.mjs')],
]) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', ...argv], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
