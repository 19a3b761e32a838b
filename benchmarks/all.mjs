/**
 * Measures everything anew, one after the other, and fills the documents: nothing else should run on the machine.
 *
 *   node benchmarks/all.mjs
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const NAMES = [
  'startup',
  'loop',
  'tools',
  'journal',
  'expander',
  'context',
  'config',
  'model',
  'sessions',
  'crash',
]
const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const programs = [...NAMES.map((name) => [here(`${name}.mjs`), '--write']), [here('../scripts/readme.mjs')]]

for (const argv of programs) {
  const { status } = spawnSync(process.execPath, ['--expose-gc', ...argv], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
