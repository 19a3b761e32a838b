import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './lib/environment.mjs'
import { capture } from './lib/step.mjs'

const PAGE = join(root, 'docs/cli.md')
const TITLE =
  '# The command line\n\nMade from the help of each command by `node scripts/cli-reference.mjs`.\n'

/** Writes docs/cli.md from the built command line; with `--check` it only says whether the page is what it should be. */
async function main() {
  const sections = [TITLE, await section('##', '')]
  for (const path of leavesOf(JSON.parse(await delta('--agent')))) sections.push(await section('###', path))
  const page = sections.join('\n')
  if (!process.argv.includes('--check')) {
    writeFileSync(PAGE, page)
    return 0
  }
  if (readFileSync(PAGE, 'utf8') === page) return 0
  console.error('docs/cli.md is not what the help says. Update it with: node scripts/cli-reference.mjs')
  return 1
}

/**
 * @param {string} mark of the heading
 * @param {string} path words of the command; '' for `delta` itself
 */
async function section(mark, path) {
  const words = path === '' ? [] : path.split(' ')
  return `${mark} ${['delta', ...words].join(' ')}\n\n\`\`\`text\n${await delta(...words, '--help')}\`\`\`\n`
}

/**
 * The words of each command that can be called.
 *
 * @param {{ commands?: Record<string, object> }} command
 * @returns {string[]}
 */
function leavesOf({ commands = {} }) {
  return Object.entries(commands).flatMap(([name, command]) => {
    const below = leavesOf(command)
    return below.length === 0 ? [name] : below.map((path) => `${name} ${path}`)
  })
}

/** @param {string[]} words */
async function delta(...words) {
  const { code, stdout, output } = await capture([process.execPath, join(root, 'apps/cli/bin.cjs'), ...words])
  if (code !== 0) throw new Error(`delta ${words.join(' ')} ended with ${code}:\n${output}`)
  return stdout
}

process.exitCode = await main()
