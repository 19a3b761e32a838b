import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { markdownTable } from '../../benchmarks/report.mjs'
import { root } from './environment.mjs'

/** @typedef {{ date: string, machine: string, tables: import('../../benchmarks/report.mjs').Table[], figures: Record<string, string | number> }} Results */

const RESULTS = /^<!-- results: (\S+) -->\n[\s\S]*?^<!-- \/results -->$/gm
const FIGURE = /<!-- figure: (\S+?)\.(\S+) -->[^<]*<!-- \/figure -->/g
const MARKER = /<!-- \/?(results|figure)\b/g

/**
 * Puts what was measured where a document shows it: nobody types a figure.
 *
 * @param {string} text
 * @param {string} [directory] of the results
 * @returns {{ rendered: string, problems: string[] }}
 */
export function fillResults(text, directory = join(root, 'benchmarks', 'results')) {
  /** @type {string[]} */
  const problems = []
  const used = [...text.matchAll(RESULTS), ...text.matchAll(FIGURE)].length
  if (2 * used !== (text.match(MARKER)?.length ?? 0)) {
    problems.push('a results or figure marker has no partner')
  }
  /** @type {(name: string) => Results | undefined} */
  const read = (name) => {
    const path = join(directory, `${name}.json`)
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
    problems.push(`benchmarks/results/${name}.json is missing: run the benchmark with --write`)
    return undefined
  }
  const rendered = text
    .replace(RESULTS, (block, name) => {
      const results = read(name)
      return results ? `<!-- results: ${name} -->\n${render(results)}\n<!-- /results -->` : block
    })
    .replace(FIGURE, (span, name, key) => {
      const results = read(name)
      const figure = results?.figures[key]
      if (results && figure === undefined)
        problems.push(`benchmarks/results/${name}.json has no figure ${key}`)
      return figure === undefined ? span : `<!-- figure: ${name}.${key} -->${figure}<!-- /figure -->`
    })
  return { rendered, problems }
}

/** @param {Results} results */
function render({ date, machine, tables }) {
  const shown = tables.map(({ title, rows }) => `${title}:\n\n${markdownTable(rows)}\n`)
  return `${shown.join('\n')}\nMeasured on ${date}: ${machine}.`
}
