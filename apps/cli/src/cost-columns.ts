import type { Cost, CostKey, CostRows } from '@delta/trace'
import { duration, printableLine } from './text.js'

/** A column of a cost table. Numbers stand to the right, and dollars below one another. */
export interface Column<Row> {
  title: string
  of: (row: Row, most: number) => string
  isText?: boolean
}

const text = <Row>(title: string, of: (row: Row) => string | null): Column<Row> => ({
  title,
  of: (row) => printableLine(of(row) ?? ''),
  isText: true,
})
const number = <Row>(title: string, of: (row: Row) => number | null): Column<Row> => ({
  title,
  of: (row) => of(row)?.toLocaleString('en-US') ?? '',
})
const key = (title: string) => text<Cost>(title, (row) => row.key)

const input: Column<Cost> = { title: 'INPUT', of: (row) => withEstimate(readIn(row), row) }
const cached: Column<Cost> = { title: 'CACHED', of: (row) => percent(row.tokens.cache_read, readIn(row)) }
const written = number<Cost>('WRITTEN', ({ tokens }) => tokens.cache_write)
const output: Column<Cost> = { title: 'OUTPUT', of: (row) => orDash(writtenIn(row)) }
const reasoning = number<Cost>('REASONING', ({ tokens }) => tokens.reasoning)
const all: Column<Cost> = { title: 'TOKENS', of: (row) => withEstimate(readIn(row) + writtenIn(row), row) }
const cost: Column<Cost> = { title: 'COST', of: (row, most) => dollars(row.cost, most) }

/** The columns of each table. */
export const COLUMNS: { [By in CostKey]: readonly Column<CostRows[By][number]>[] } = {
  source: [key('SOURCE'), input, cached, output, cost],
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
    { title: 'PER RUN', of: (row, most) => dollars(row.cost === null ? null : row.cost / row.runs, most) },
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

/** Tokens that were read, from the cache or not. */
export function readIn({ tokens }: Pick<Cost, 'tokens'>): number {
  return tokens.input + tokens.cache_read + tokens.cache_write
}

function writtenIn({ tokens }: Pick<Cost, 'tokens'>): number {
  return tokens.output + tokens.reasoning
}

/** Tokens, with a `~` where some of them are estimated. */
function withEstimate(tokens: number, { estimated }: Pick<Cost, 'estimated'>): string {
  return estimated > 0 ? `~${(tokens + estimated).toLocaleString('en-US')}` : orDash(tokens)
}

function orDash(count: number): string {
  return count === 0 ? '-' : count.toLocaleString('en-US')
}

/** With as many decimals as the largest sum of the table needs for four significant digits. */
function dollars(cost: number | null, most: number): string {
  if (cost === null) return '-'
  const decimals = most > 0 ? Math.max(0, 3 - Math.floor(Math.log10(most))) : 0
  return `$${cost.toFixed(Math.min(decimals, 12))}`
}

/** `67 %`; `-` of nothing. */
export function percent(part: number, whole: number, digits = 0): string {
  return whole === 0 ? '-' : `${((100 * part) / whole).toFixed(digits)} %`
}
