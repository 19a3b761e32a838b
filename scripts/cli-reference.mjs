import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtProgram } from './lib/built-program.mjs'
import { root } from './lib/environment.mjs'
import { capture } from './lib/step.mjs'

const PAGE = join(root, 'docs/cli.md')
const program = builtProgram()
const TITLE =
  '# The command line\n\nMade from the help of each command by `node scripts/cli-reference.mjs`.\n'

/** Writes docs/cli.md from the built command line; with `--check` it only says whether the page is what it should be. */
async function main() {
  const sections = [TITLE, await section('##', '')]
  for (const path of leavesOf(program.createProgram({ argv: [], stdout: {} })))
    sections.push(await section('###', path))
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
 * @param {any} command of commander
 * @returns {string[]}
 */
function leavesOf(command) {
  /** @type {any[]} */
  const shown = command.createHelp().visibleCommands(command)
  return shown
    .filter((each) => each.name() !== 'help')
    .flatMap((each) => {
      const below = leavesOf(each)
      return below.length === 0 ? [each.name()] : below.map((path) => `${each.name()} ${path}`)
    })
}

/** @param {string[]} words */
async function delta(...words) {
  if (words[0] === 'sessions') return deltaSessions(words) // parses its own arguments
  /** @type {string[]} */
  const pieces = []
  const stdout = { write: (/** @type {string} */ piece) => pieces.push(piece) }
  await program.runProgram({ argv: words, stdout, stderr: process.stderr })
  return pieces.join('')
}

/** @param {string[]} words */
async function deltaSessions(words) {
  const { code, stdout, output } = await capture([process.execPath, join(root, 'apps/cli/bin.cjs'), ...words])
  if (code !== 0) throw new Error(`delta ${words.join(' ')} ended with ${code}:\n${output}`)
  return stdout
}

process.exitCode = await main()
