import type { Cell, RunRow } from '../src/api.js'
import { count, plural, shortCount, shortMoney } from './format.js'
import { oneLine } from './text/marks.js'
import { stateClass } from './words.js'

/** A run that stands for a repeat in an evaluation. */
export type CellRow = RunRow & { cell: Cell }

/** A line above cells: of an evaluation, or of a variant's cells of a task. `cells` are all of them, whatever the filter shows. */
export type CellHeading =
  | { kind: 'evaluation'; name: string; cells: readonly CellRow[] }
  | { kind: 'group'; name: string; cells: readonly CellRow[] }

export function isCell(row: RunRow): row is CellRow {
  return row.cell !== undefined
}

export function isOfEvaluation({ cell }: CellRow): (row: RunRow) => row is CellRow {
  return (row): row is CellRow => row.cell?.evaluationKey === cell.evaluationKey
}

/**
 * The cells of one evaluation below their headings, in an order that does not change while cells begin and end.
 *
 * @param shown - At least one.
 * @param all - Also those that are not shown.
 */
export function underHeadings(
  shown: readonly CellRow[],
  all: readonly CellRow[],
): (CellHeading | { kind: 'cell'; row: CellRow })[] {
  const groups = groupBy(all)
  return [
    { kind: 'evaluation', name: shown[0]?.cell.evaluation ?? '', cells: all },
    ...[...groupBy(shown.toSorted(inOrder))].flatMap(([name, rows]) => [
      { kind: 'group' as const, name, cells: groups.get(name) ?? rows },
      ...rows.map((row) => ({ kind: 'cell' as const, row })),
    ]),
  ]
}

function inOrder({ cell: one }: CellRow, { cell: other }: CellRow): number {
  return (
    byName(one.variant, other.variant) ||
    byName(one.task, other.task) ||
    one.repeat - other.repeat ||
    one.attempt - other.attempt
  )
}

function byName(one: string, other: string): number {
  return one.localeCompare(other, 'en', { numeric: true })
}

function groupBy(rows: readonly CellRow[]): Map<string, CellRow[]> {
  const groups = new Map<string, CellRow[]>()
  for (const row of rows) {
    const name = `${row.cell.variant}/${row.cell.task}`
    const group = groups.get(name)
    if (group) group.push(row)
    else groups.set(name, [row])
  }
  return groups
}

export function Heading({ line, index }: { line: CellHeading; index: number }) {
  const { kind, name, cells } = line
  const cost = cells.reduce((sum, row) => sum + (row.cost ?? 0), 0)
  return (
    <div class={`row group ${kind}`} role="row" aria-rowindex={index + 2}>
      <span class="c-name" role="gridcell" title={oneLine(name)}>
        <bdi>{oneLine(name)}</bdi>
      </span>
      <span class="c-about dim" role="gridcell">
        {kind === 'evaluation' ? standingsOf(cells) : oneLine(cells[0]?.task ?? '')}
      </span>
      <span
        class="c-score number"
        role="gridcell"
        title={kind === 'group' ? 'mean of the repeats that count' : ''}
      >
        {kind === 'group' && meanOf(cells)}
      </span>
      <span class="c-tokens number dim" role="gridcell">
        {shortCount(cells.reduce((sum, { tokens }) => sum + tokens, 0))}
      </span>
      <span class="c-cost number dim" role="gridcell">
        {cells.some((row) => row.cost !== null) && shortMoney(cost)}
      </span>
    </div>
  )
}

/** In this order: that of the table does not say how far an evaluation is. */
const STATES = ['scored', 'unscored-agent', 'unscored-infra', 'invalid', 'running', 'lost', 'pending']

/** `48 cells: 40 scored, 3 running`. */
function standingsOf(cells: readonly CellRow[]): string {
  const counts = new Map(STATES.map((state) => [state, 0]))
  for (const { cell } of cells) counts.set(cell.state, (counts.get(cell.state) ?? 0) + 1)
  const words = [...counts].flatMap(([state, found]) =>
    found === 0 ? [] : `${count(found)} ${oneLine(state)}`,
  )
  return `${plural(cells.length, 'cell')}: ${words.join(', ')}`
}

/** As a report has it: where there was nothing to score, a repeat counts as 0. */
function meanOf(cells: readonly CellRow[]): string {
  const scores = cells.flatMap(({ cell: { counts, state, score } }) => {
    if (!counts) return []
    return state === 'unscored-agent' ? 0 : state === 'scored' ? (score ?? []) : []
  })
  if (scores.length === 0) return ''
  return shortScore(scores.reduce((sum, score) => sum + score, 0) / scores.length)
}

/** How a cell counts, where there is no column for it: `scored 0.5`, `unscored-infra`. */
export function CellWords({ cell }: { cell: Cell | undefined }) {
  if (cell === undefined) return null
  const { state, score } = cell
  return (
    <span class={stateClass(state)}>
      {oneLine(state)}
      {score !== null && ` ${shortScore(score)}`}
    </span>
  )
}

export function shortScore(score: number): string {
  return String(Math.round(score * 1000) / 1000)
}
