/**
 * What every benchmark does with its figures.
 *
 *   report('startup', { tables: [{ title: 'Start-up', rows }], figures: { run: 1.6 } })
 *
 * prints the tables as Markdown. With `--write` on the command line they also become `results/startup.json`, together with
 * the day and the machine; documents show them between `<!-- results: startup -->` and `<!-- /results -->`, and single
 * figures between `<!-- figure: startup.run -->` and `<!-- /figure -->`, filled by `npm run readme`.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'

const directory = new URL('results/', import.meta.url)

/**
 * @typedef {Record<string, string | number>} Row the columns of all rows are those of the first
 * @typedef {{ title: string, rows: Row[] }} Table
 */

/**
 * @param {string} name of the results, as documents name them
 * @param {{ tables: Table[], figures?: Record<string, string | number> }} measured
 */
export function report(name, { tables, figures = {} }) {
  for (const table of tables) console.log(`\n${table.title}\n\n${markdownTable(table.rows)}`)
  if (!process.argv.includes('--write')) return
  const measured = { date: new Date().toISOString().slice(0, 10), machine: machine(), tables, figures }
  mkdirSync(directory, { recursive: true })
  writeFileSync(new URL(`${name}.json`, directory), `${JSON.stringify(measured, null, 2)}\n`)
}

/**
 * @param {Row[]} rows
 * @returns {string} lines without a newline at the end
 */
export function markdownTable(rows) {
  const header = Object.keys(rows[0] ?? {})
  const lines = [header, header.map(() => '---'), ...rows.map((row) => header.map((key) => row[key] ?? ''))]
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n')
}

/** The middle one: drift and outliers leave it alone. @param {number[]} values */
export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN
}

/** The numbers on the command line: how often, or how long. @returns {number[]} */
export function numbers() {
  return process.argv.slice(2).flatMap((word) => (/^\d+$/.test(word) ? [Number(word)] : []))
}

function machine() {
  const [cpu] = cpus()
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GB of memory`
  const processors = `${cpus().length} × ${cpu?.model.trim() ?? 'unknown processor'}`
  return `${processors}, ${memory}, ${process.platform} ${release().split('-')[0]}, Node.js ${process.versions.node}`
}
