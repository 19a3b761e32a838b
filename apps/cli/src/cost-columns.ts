import type { Cost, CostKey, CostRows } from '@delta/trace'
import { duration, printableLine } from './text.js'

/** A column of a cost table. Numbers are aligned right, and all dollars have the same number of decimals. */
export interface Column<Row> {
  title: string
  /** @param sum - The sum of all rows. */
  of: (row: Row, sum: Cost) => string
  /** Aligned left. */
  isText?: boolean
  /** The last row shows the sum. */
  isSummed?: boolean
}

const text = <Row>(title: string, of: (row: Row, sum: Cost) => string | null): Column<Row> => ({
  title,
  of: (row, sum) => printableLine(of(row, sum) ?? ''),
  isText: true,
})
const number = <Row>(title: string, of: (row: Row) => number | null): Column<Row> => ({
  title,
  of: (row) => {
    const value = of(row)
    return value === null ? '' : grouped(value)
  },
})
const summed = (title: string, of: Column<Cost>['of']): Column<Cost> => ({ title, of, isSummed: true })
const key = (title: string) => text<Cost>(title, (row) => row.key)

const input = summed('INPUT', (row) => withEstimate(readIn(row), row))
const cached = summed('CACHED', (row) => percent(row.tokens.cache_read, readIn(row)))
const written = summed('WRITTEN', ({ tokens }) => grouped(tokens.cache_write))
const output = summed('OUTPUT', (row) => orDash(writtenIn(row)))
const reasoning = summed('REASONING', ({ tokens }) => grouped(tokens.reasoning))
const all = summed('TOKENS', (row) => withEstimate(readIn(row) + writtenIn(row), row))
const cost = summed('COST', (row, sum) => dollars(row.cost, sum))
const share: Column<Cost> = {
  title: 'SHARE',
  of: (row, sum) => percent(weightOf(row, sum), weightOf(sum, sum), 1),
}
const bar = text<Cost>('', (row, sum) =>
  '#'.repeat(Math.round((BAR_COLUMNS * weightOf(row, sum)) / weightOf(sum, sum)) || 0),
)

const BAR_COLUMNS = 36

/** The columns of each table. */
export const COLUMNS: { [By in CostKey]: readonly Column<CostRows[By][number]>[] } = {
  source: [key('SOURCE'), input, cached, output, cost, share, bar],
  step: [
    key('STEP'),
    text('MODEL', ({ model }) => model),
    input,
    cached,
    written,
    output,
    reasoning,
    cost,
    { title: 'TIME', of: ({ ms }) => (ms === null ? '-' : duration(ms)) },
    text('', ({ brokeCache }) => (brokeCache ? '*' : '')),
  ],
  tool: [
    key('TOOL'),
    number('CALLS', ({ calls }) => calls),
    number('DEFINITION', ({ definition }) => definition),
    number('RESULTS', ({ results }) => results),
    all,
    cost,
  ],
  call: [
    text('RUN', ({ runId }) => runId),
    number('STEP', ({ step }) => step),
    text('TOOL', ({ tool }) => tool),
    text('STATUS', ({ status }) => status),
    number('EXIT', ({ exitCode }) => exitCode),
    number('MS', ({ ms }) => ms),
    all,
    cost,
  ],
  model: [
    key('MODEL'),
    number('RUNS', ({ runs }) => runs),
    number('REQUESTS', ({ requests }) => requests),
    input,
    output,
    cost,
    { title: 'PER RUN', of: (row, sum) => dollars(row.cost === null ? null : row.cost / row.runs, sum) },
  ],
  run: [
    key('RUN'),
    text('AGENT', ({ agent }) => agent),
    text('MODEL', ({ model }) => model),
    text('STATUS', ({ status }) => status),
    number('REQUESTS', ({ requests }) => requests),
    input,
    cached,
    output,
    cost,
  ],
}

/** Dollars; without a price, tokens. */
function weightOf(row: Cost, sum: Cost): number {
  return sum.cost ? (row.cost ?? 0) : readIn(row) + writtenIn(row) + row.estimated
}

/** Tokens that were read, from the cache or not. */
function readIn({ tokens }: Pick<Cost, 'tokens'>): number {
  return tokens.input + tokens.cache_read + tokens.cache_write
}

function writtenIn({ tokens }: Pick<Cost, 'tokens'>): number {
  return tokens.output + tokens.reasoning
}

/** Tokens, with a `~` where some of them are estimated. */
function withEstimate(tokens: number, { estimated }: Pick<Cost, 'estimated'>): string {
  return estimated > 0 ? `~${grouped(tokens + estimated)}` : orDash(tokens)
}

function orDash(count: number): string {
  return count === 0 ? '-' : grouped(count)
}

/** `9,400`. */
function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** With as many decimals as the sum of the table needs for four significant digits; `-` for an unknown cost. */
function dollars(cost: number | null, { cost: most }: Cost): string {
  if (cost === null) return '-'
  const decimals = most ? Math.max(0, 3 - Math.floor(Math.log10(most))) : 0
  return `$${cost.toFixed(Math.min(decimals, 12))}`
}

/** `67 %`; `-` when the whole is 0. */
export function percent(part: number, whole: number, digits = 0): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(digits)} %`
}
