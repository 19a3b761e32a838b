import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { GOALS } from '../../benchmarks/goals.mjs'
import { markdownTable } from '../../benchmarks/report.mjs'
import { root } from './environment.mjs'

/** @typedef {{ date: string, machine: string, tables: import('../../benchmarks/report.mjs').Table[], figures: Record<string, string | number> }} Results */

const RESULTS = /^<!-- results: (\S+) -->\n[\s\S]*?^<!-- \/results -->$/gm
const FIGURE = /<!-- figure: (\S+?)\.(\S+) -->[^<]*<!-- \/figure -->/g
const MARKER = /<!-- \/?(results|figure)\b/g

/**
 * Puts what was measured where a document shows it. `date` and `machine` are figures, too, and those of `all` are of all
 * results together: when and where they were measured, and which goals they miss.
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
    if (name === 'all') return together(directory)
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
      /** @type {Results['figures']} */
      const figures = results ? { date: results.date, machine: results.machine, ...results.figures } : {}
      const figure = figures[key]
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

/** @param {string} directory @returns {Results} */
function together(directory) {
  const files = readdirSync(directory).filter((file) => file.endsWith('.json'))
  /** @type {[string, Results][]} */
  const all = files.map((file) => [
    file.replace('.json', ''),
    JSON.parse(readFileSync(join(directory, file), 'utf8')),
  ])
  const days = all.map(([, { date }]) => date).sort()
  const date = [...new Set([days[0], days.at(-1)])].join(' to ')
  const machine = [...new Set(all.map(([, results]) => results.machine))].join('; ')
  const missed = GOALS.flatMap(({ figure, atMost, what }) => {
    const [name, key = ''] = figure.split('.')
    const measured = all.find(([other]) => other === name)?.[1].figures[key]
    // what nobody has measured is not reached
    if (Number(measured) <= atMost) return []
    return [`${what} (${measured ?? 'not measured'}, goal ${Number(atMost.toPrecision(3))})`]
  })
  return { date, machine, tables: [], figures: { missed: missed.join('; ') || 'none' } }
}
