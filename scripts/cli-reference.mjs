import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/environment.mjs'
import { capture } from './lib/step.mjs'

const PAGE = join(root, 'docs/cli.md')

/** Writes docs/cli.md from the built command line; with `--check` it only says whether the page is what it should be. */
async function main() {
  const { code, stdout, output } = await capture([
    process.execPath,
    join(root, 'apps/cli/bin.cjs'),
    'reference',
  ])
  if (code !== 0) throw new Error(`delta reference ended with ${code}:\n${output}`)
  if (!process.argv.includes('--check')) {
    writeFileSync(PAGE, stdout)
    return 0
  }
  if (readFileSync(PAGE, 'utf8') === stdout) return 0
  console.error('docs/cli.md is not what the help says. Update it with: node scripts/cli-reference.mjs')
  return 1
}

process.exitCode = await main()
