import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { layers } from './layers.mjs'
import { root } from './lib/environment.mjs'
import { renderExample } from './lib/example.mjs'
import { brokenLinks } from './lib/links.mjs'
import { fillResults } from './lib/results.mjs'
import { matchesShown, openScratchShell } from './lib/shell-block.mjs'
import { capture } from './lib/step.mjs'

const EXAMPLE = /^<!-- example: (\S+) -->\n([\s\S]*?)^<!-- \/example -->$/gm
const RUN = /^<!-- run -->\n```sh\n([\s\S]*?)^```\n(?:```text\n([\s\S]*?)^```\n)?<!-- \/run -->$/gm
const FILE = /^<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)^```\n<!-- \/file -->$/gm
const MARKER = /^<!-- \/?(example|run|file)\b/gm

/**
 * Executes what a document shows.
 *
 * `<!-- example: file -->` blocks are rendered from the file and its output. `<!-- run -->` blocks hold a `sh` fence,
 * which must succeed, and maybe a `text` fence, which must be what it prints (`…` stands for anything).
 * `<!-- file: path -->` blocks hold a fence that is written to that path before the first of them runs. Between `results`
 * and `figure` markers stands what the benchmarks measured.
 *
 * @param {string} path
 * @returns {Promise<{ text: string, rendered: string, problems: string[] }>} `rendered` is `text` with every example,
 *   table and figure made anew
 */
export async function renderDocument(path) {
  const text = readFileSync(path, 'utf8')
  const problems = brokenLinks(text, path).map((link) => `the link ${link} leads to no file`)
  const examples = [...text.matchAll(EXAMPLE)]
  const runs = [...text.matchAll(RUN)]
  const files = [...text.matchAll(FILE)]
  const markers = text.match(MARKER)?.length ?? 0
  if (markers !== 2 * (examples.length + runs.length + files.length)) {
    problems.push('an example, run or file marker has no partner, or does not hold the fences it should')
  }

  const filled = fillResults(text)
  problems.push(...filled.problems)
  let { rendered } = filled
  for (const [block, file = ''] of examples) {
    try {
      const body = await renderExample(join(dirname(path), file))
      rendered = rendered.replace(block, () => `<!-- example: ${file} -->\n${body}<!-- /example -->`)
    } catch (error) {
      problems.push(`${file}: ${error instanceof Error ? error.message : error}`)
    }
  }
  if (runs.length > 0) {
    const shell = openScratchShell()
    problems.push(...(await runBlocks(text, shell).finally(shell.close)))
  }
  return { text, rendered, problems }
}

/**
 * Types what the `run` blocks of a document show, and compares.
 *
 * @param {string} text the document
 * @param {import('./lib/shell-block.mjs').Shell} shell
 * @returns {Promise<string[]>} problems
 */
export async function runBlocks(text, shell) {
  /** @type {string[]} */
  const problems = []
  for (const [, path = '', content = ''] of text.matchAll(FILE)) shell.write(path, content)
  for (const [, script = '', shown] of text.matchAll(RUN)) {
    const { code, output } = await shell.run(script)
    const printed = `It prints:\n${output.trimEnd()}`
    if (code !== 0) problems.push(`these lines end with exit code ${code}:\n${script}${printed}`)
    else if (shown !== undefined && !matchesShown(shown, output)) {
      problems.push(`these lines do not print what is shown:\n${script}${printed}`)
    }
  }
  return problems
}

/**
 * The first line in which a document differs from what it should be.
 *
 * @param {string} text
 * @param {string} rendered
 */
function firstDifference(text, rendered) {
  const lines = text.split('\n')
  const wanted = rendered.split('\n')
  const index = wanted.findIndex((line, at) => line !== lines[at])
  return `line ${index + 1} is not what its example or its measurement says (\`npm run readme\` fixes it):
  is:     ${lines[index] ?? ''}
  should: ${wanted[index] ?? ''}`
}

/** Every published package has a README that shows something that runs. */
function missingReadmes() {
  const published = Object.keys(layers).filter((folder) => !layers[folder]?.testOnly)
  return published.flatMap((folder) => {
    const path = join(root, folder, 'README.md')
    if (!existsSync(path)) return [`${folder}: has no README.md`]
    return /^<!-- (example:|run )/m.test(readFileSync(path, 'utf8'))
      ? []
      : [`${folder}/README.md: shows no example`]
  })
}

/** @param {boolean} check true: change nothing, a difference is a problem */
async function main(check) {
  const listed = await capture(['git', 'ls-files', '-co', '--exclude-standard', '--', '*.md'])
  const paths = listed.stdout.split('\n').filter((path) => path && existsSync(join(root, path)))
  const problems = missingReadmes()
  for (const path of paths) {
    const document = await renderDocument(join(root, path))
    problems.push(...document.problems.map((problem) => `${path}: ${problem}`))
    if (document.rendered === document.text) continue
    if (check) problems.push(`${path}: ${firstDifference(document.text, document.rendered)}`)
    else {
      writeFileSync(join(root, path), document.rendered)
      console.log(`${path}: filled`)
    }
  }
  for (const problem of problems) console.error(problem)
  console.log(problems.length === 0 ? `${paths.length} documents are true.` : `${problems.length} problems.`)
  return problems.length === 0 ? 0 : 1
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.includes('--check'))
}
