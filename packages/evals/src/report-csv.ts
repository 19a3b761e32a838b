import { CsvError, parse } from 'csv-parse/sync'
import { EvaluationError } from './errors.js'
import { cellsOfResults, isMissing, type Score } from './report-cells.js'
import type { CellStatus } from './status.js'

/** A line for each planned cell, after a header. What a cell does not have is empty; a cell that does not count has no score. */
export function reportCsv(results: readonly CellStatus[]): string {
  const cells = cellsOfResults(results)
  const metrics = [...new Set(cells.flatMap((cell) => Object.keys(cell.metrics)))].sort()
  const header = [...COLUMNS, ...metrics]
  const rows = cells.map((cell, at) => {
    const { variant, task, repeat, state, score, spent, seconds, models } = cell
    const result = results[at]?.result
    const fields = [
      variant,
      task,
      repeat,
      state,
      isMissing(cell) ? '' : (score ?? 0),
      result?.reason,
      result?.run?.status,
      models.join(' + '),
      spent?.tokens,
      spent?.cost,
      seconds,
      results[at]?.cell.cell,
    ]
    return [...fields, ...metrics.map((name) => cell.metrics[name])]
  })
  return [header, ...rows].map((row) => `${row.map(field).join(',')}\n`).join('')
}

const COLUMNS = [
  'variant',
  'task',
  'repeat',
  'state',
  'score',
  'reason',
  'status',
  'models',
  'tokens',
  'cost',
  'seconds',
  'cell',
]

function field(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/**
 * The scores in a table with the columns `variant`, `task` and `score`, in any order and among others. An empty score, or `NA`, is a
 * try without one.
 *
 * @param shownAs - What messages call the file.
 * @throws {EvaluationError} `ERR_EVAL_PLAN`, with the line: a column is missing, or a score is not a number.
 */
export function scoresInCsv(text: string, shownAs: string): Score[] {
  const [header, ...rows] = recordsIn(text, shownAs)
  const at = (name: string) => {
    const index = header?.record.indexOf(name) ?? -1
    if (index >= 0) return index
    throw refused(`${shownAs}:1`, `there is no column ${name}. Needed are variant, task and score.`)
  }
  const [variant, task, score] = [at('variant'), at('task'), at('score')]
  if (rows.length === 0) throw refused(shownAs, 'there is no line below the header.')
  return rows.map(({ record, line }) => ({
    variant: record[variant] ?? '',
    task: record[task] ?? '',
    score: scoreIn(record[score] ?? '', `${shownAs}:${line}`),
  }))
}

function scoreIn(text: string, place: string): number | null {
  if (text === '' || text === 'NA') return null
  const score = Number(text)
  if (Number.isFinite(score) && Math.abs(score) <= MOST) return score
  throw refused(place, `score must be a number, or empty, got ${JSON.stringify(text)}.`)
}

/** Squares of larger ones are no finite numbers. */
const MOST = 1e100

function recordsIn(text: string, shownAs: string): { record: string[]; line: number }[] {
  try {
    const found = parse(text, { bom: true, trim: true, skip_empty_lines: true, info: true })
    return (found as unknown as { record: string[]; info: { lines: number } }[]).map(({ record, info }) => ({
      record,
      line: info.lines,
    }))
  } catch (error) {
    if (error instanceof CsvError) throw refused(shownAs, error.message)
    throw error
  }
}

function refused(place: string, why: string): EvaluationError {
  return new EvaluationError('ERR_EVAL_PLAN', `${place}: ${why}`)
}
