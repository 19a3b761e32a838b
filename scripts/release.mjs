import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap } from './bootstrap.mjs'
import { checkPackage } from './lib/check-package.mjs'
import { cleanEnvironment, root, tool } from './lib/environment.mjs'
import { withPackedPackages } from './lib/pack.mjs'
import { changesetProblems, publicationProblems, publishedFiles } from './lib/published.mjs'
import { show } from './lib/step.mjs'

/** @typedef {import('./lib/pack.mjs').Packed} Packed */

/**
 * `pnpm release --dry-run` shows what would be published and whether it may be; without `--dry-run` it is then published.
 * Versions and changelogs are not made here but by `pnpm changeset version`.
 */
async function main(dryRun = process.argv.includes('--dry-run')) {
  if (!(await bootstrap({ declarations: true }))) return 1
  const waiting = waitingChangesets()
  const failed = await withPackedPackages(async (packages) => {
    let count = 0
    for (const packed of packages) count += (await inOrder(packed, packages)) ? 0 : 1
    console.log(
      count === 0 ? `${packages.length} packages are in order.` : `${count} packages are not in order.`,
    )
    return count
  })
  if (waiting.length > 0) {
    console.log(`${waiting.length} changesets are waiting (${waiting.join(', ')}): \`pnpm changeset version\` turns them
into versions and changelogs.`)
  }
  const problems = changesetProblems(waiting.map(readChangeset))
  for (const problem of problems) console.error(`PROBLEM: ${problem}`)
  if (failed > 0 || problems.length > 0) return 1
  if (dryRun) return 0
  if (waiting.length > 0) {
    console.error('Nothing is published while changesets are waiting.')
    return 1
  }
  const env = { ...cleanEnvironment(), NPM_TOKEN: process.env.NPM_TOKEN }
  return await show(tool('changeset', 'publish'), { env })
}

/**
 * @param {Packed} packed
 * @param {Packed[]} packages
 */
async function inOrder(packed, packages) {
  describe(packed)
  const problems = [...publicationProblems(packed, packages), ...(await checkPackage(packed))]
  for (const problem of problems) console.error(`  PROBLEM: ${packed.name}: ${problem.trimEnd()}`)
  return problems.length === 0
}

/** @param {Packed} packed */
function describe(packed) {
  const { name, manifest, tarball } = packed
  const files = publishedFiles(packed)
  const unpacked = files.reduce((sum, { bytes }) => sum + bytes, 0)
  console.log(
    `${name} ${manifest.version}: ${kilobytes(statSync(tarball).size)} packed, ${kilobytes(unpacked)} unpacked, ${files.length} files`,
  )
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function waitingChangesets() {
  const names = readdirSync(join(root, '.changeset')).filter(
    (name) => name.endsWith('.md') && name !== 'README.md',
  )
  return names.map((name) => name.replace(/\.md$/, ''))
}

/** @param {string} name */
function readChangeset(name) {
  return readFileSync(join(root, '.changeset', `${name}.md`), 'utf8')
}

process.exitCode = await main()
