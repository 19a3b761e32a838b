import { addSpending } from '@delta/journal/internal'
import type { RunSpending, Totals } from '@delta/journal/runs'
import {
  type ChildRun,
  type Cost,
  type CostKey,
  type CostRows,
  cacheMisses,
  costTable,
  type PriceOptions,
  type Trace,
} from '@delta/trace'
import { sumOf } from '@delta/trace/internal'
import { COLUMNS, type Column, percent } from '../cost-columns.js'
import { describeError } from '../errors.js'
import type { ShownRunFlags } from '../find-shown-run.js'
import { namedRuns } from '../named-runs.js'
import { pricesIn } from '../prices.js'
import { EXIT, type Terminal } from '../terminal.js'
import { counted, money, print, printableLine, printJson, say, table, wrapped } from '../text.js'

interface CostFlags extends ShownRunFlags {
  by?: CostKey
  cache?: boolean
  prices?: string
  reprice?: boolean
  json?: boolean
  csv?: boolean
}

/** `delta cost`: what runs cost, by source, step, tool, call, model or run, or which requests the cache did not serve. Only reads. */
export async function execute(
  flags: CostFlags,
  terminal: Terminal,
  named: readonly string[] = [],
): Promise<number> {
  const reprice = flags.prices !== undefined || flags.reprice === true
  const options: PriceOptions = { prices: pricesIn(flags, terminal), reprice }
  const traces = await namedRuns(named, flags, terminal, options)
  if (flags.cache) await showMisses(traces, flags, terminal)
  else await showTable(traces, flags, terminal)
  const damaged = traces.filter(({ run }) => run.problem)
  for (const { run } of damaged)
    say(terminal, `Run ${run.runId} is damaged, and counted up to there: ${describeError(run.problem)}`)
  return damaged.length > 0 ? EXIT.failed : EXIT.completed
}

async function showTable(traces: readonly Trace[], flags: CostFlags, terminal: Terminal): Promise<void> {
  const { by = traces.length > 1 ? 'run' : 'source' } = flags
  const rows = await costTable(FOLDED.has(by) ? withoutSubAgents(traces) : traces, by)
  const totals = totalsOf(traces)
  const warnings = warningsOn(traces)
  if (flags.csv) return print(terminal, asCsv(CSV_COLUMNS[by], rows.map(asRecord)))
  if (flags.json) return printJson(terminal, { by, rows: rows.map(asRecord), totals, warnings })
  const { columns } = terminal.stdout
  const said = [footer(totals, by), ...warnings].flatMap((line) => wrapped(line, columns))
  const lines = [...wrapped(headline(traces), columns), asTable(by, rows, traces.length), ...said]
  print(terminal, lines.map((line) => `${line.trimEnd()}\n`).join(''))
}

/** In these tables a run counts with its sub-agents. */
const FOLDED = new Set<CostKey>(['run', 'model'])

/** Those that are not below another one that was named. A directory may have been moved since, and have several names. */
function withoutSubAgents(traces: readonly Trace[]): Trace[] {
  const below = new Set(traces.flatMap(({ run }) => namesBelow(run)))
  return traces.filter(({ run: { directory, runId, metadata } }) => {
    return !below.has(directory) && !below.has(`${metadata.parent_run} ${runId}`)
  })
}

function namesBelow({ runId: caller, children }: Pick<ChildRun, 'runId' | 'children'>): string[] {
  return countedIn(children).flatMap((child) => [
    child.directory,
    `${caller} ${child.runId}`,
    ...namesBelow(child),
  ])
}

/** What the calls of another run started counts there. */
function countedIn(children: readonly ChildRun[]): ChildRun[] {
  return children.filter(({ isInherited }) => !isInherited)
}

function headline(traces: readonly Trace[]): string {
  const [first] = traces
  if (first === undefined || traces.length > 1) return counted(traces.length, 'run')
  const { runId, metadata, model, lastIteration, status } = first.run
  const code = metadata.reason_code === null ? '' : ` (${metadata.reason_code})`
  const names = [metadata.agent_name ?? 'an agent without a name', model ?? 'unknown model'].map(
    printableLine,
  )
  return `run ${runId} of ${names.join(', ')}, ${counted(lastIteration, 'step')}, ${status}${code}`
}

/** The rows, and their sum. */
function asTable<By extends CostKey>(by: By, rows: CostRows[By], runs: number): string {
  const all = COLUMNS[by] as readonly Column<Cost>[]
  const columns = by === 'call' && runs === 1 ? all.slice(1) : all // the headline names the run
  const sum = sumOf(rows)
  const header = columns.map(({ title }) => title)
  const cells = rows.map((row) => columns.map(({ of }) => of(row, sum)))
  const last = columns.map(({ of, isSummed }) => (isSummed ? of(sum, sum) : ''))
  const isNumber = columns.map(({ isText }) => !isText)
  return table(toTheRight([header, ...cells, ['all', ...last.slice(1)]], isNumber))
}

function toTheRight(rows: readonly string[][], isNumber: readonly boolean[]): string[][] {
  const widths = isNumber.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  return rows.map((cells) =>
    cells.map((cell, column) => (isNumber[column] ? cell.padStart(widths[column] ?? 0) : cell)),
  )
}

type Sums = Pick<Totals, 'own' | 'sub_agents' | 'all' | 'prices'>

/** Sums over runs. One that is named and is also below another named run counts once. */
function totalsOf(traces: readonly Trace[]): Sums {
  const of = (part: 'own' | 'sub_agents' | 'all'): RunSpending => {
    const each = part === 'own' ? traces : withoutSubAgents(traces)
    const parts = each.map(({ run }) => run.totals[part])
    return { runs: parts.reduce((sum, { runs }) => sum + runs, 0), ...addSpending(parts) }
  }
  const dates = traces.flatMap(({ run }) => run.totals.prices ?? [])
  return { own: of('own'), sub_agents: of('sub_agents'), all: of('all'), prices: dates.sort().at(-1) ?? null }
}

function footer({ own, sub_agents: below, all, prices }: Sums, by: CostKey): string {
  const isOfAll = by === 'run' || by === 'model'
  const spending = isOfAll ? all : own
  const date = prices === null ? '' : ` (prices of ${prices})`
  return `priced ${percent(spending.priced, 1)}${date}. ${requestsIn(spending)} ${subAgentsIn(below, all, isOfAll)}`
}

function requestsIn({ requests, unreported }: RunSpending): string {
  const count = counted(requests, 'request')
  if (requests === 0) return 'No requests.'
  if (unreported === 0) return `${count}, all counted by the provider.`
  return `${count}, ${unreported} of them not counted by the provider: ~ is an estimate.`
}

function subAgentsIn(below: RunSpending, all: RunSpending, isCounted: boolean): string {
  if (below.runs === 0) return 'No sub-agents.'
  const runs = counted(below.runs, 'sub-agent')
  if (isCounted) return `${runs} counted.`
  const cost =
    below.cost === null ? 'no known cost' : `${money(below.cost)} more, ${money(all.cost ?? 0)} in all`
  return `${runs}: ${cost}; see --by run.`
}

function warningsOn(traces: readonly Trace[]): string[] {
  const children = traces.flatMap(({ run }) => countedIn(run.children))
  return [
    ...(children.some(({ wentOn }) => wentOn) ? ['A sub-agent went on after its caller ended.'] : []),
    ...children
      .filter(({ isGone }) => isGone)
      .map(({ runId }) => `Sub-agent ${runId} is gone; what its caller recorded counts.`),
  ]
}

async function showMisses(traces: readonly Trace[], flags: CostFlags, terminal: Terminal): Promise<void> {
  const misses: object[] = []
  let last: string | undefined
  for (const trace of traces) {
    const { runId } = trace.run
    for await (const { n: step, broken, tokens, cost, message } of cacheMisses(trace)) {
      const { source = null, type = null, byte = null } = broken ?? {}
      misses.push({ run_id: runId, step, source, type, byte, tokens, cost, message })
      if (flags.json || flags.csv) continue
      if (traces.length > 1 && last !== runId) print(terminal, `run ${runId}\n`)
      last = runId
      print(terminal, `${printableLine(message)}\n`)
    }
  }
  if (flags.json) printJson(terminal, misses)
  else if (flags.csv) print(terminal, asCsv(CSV_COLUMNS.cache, misses))
  else if (misses.length === 0)
    print(terminal, 'Each request began as the one before it, and a cache could serve it.\n')
}

/** The row as JSON has it: snake_case, as everything on disk. */
function asRecord(row: Cost): object {
  const name = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(row).map(([key, value]) => [name(key), value]))
}

const COUNTED = ['input', 'cache_read', 'cache_write', 'output', 'reasoning', 'estimated', 'cost']
/** Of tables without rows, too: a program that reads one expects its columns. */
const CSV_COLUMNS: Readonly<Record<CostKey | 'cache', readonly string[]>> = {
  source: ['key', ...COUNTED],
  step: ['key', 'run_id', 'step', 'model', 'broke_cache', 'ms', ...COUNTED],
  tool: ['key', 'calls', 'definition', 'results', ...COUNTED],
  call: ['key', 'run_id', 'step', 'tool', 'status', 'exit_code', 'ms', ...COUNTED],
  model: ['key', 'runs', 'requests', ...COUNTED],
  run: ['key', 'agent', 'model', 'status', 'workspace', 'task', 'requests', 'sub_agents', ...COUNTED],
  cache: ['run_id', 'step', 'source', 'type', 'byte', 'message', 'tokens', 'cost'],
}

/** CSV by RFC 4180. Each bucket of tokens is a column. */
function asCsv(names: readonly string[], records: readonly object[]): string {
  const rows = records.map((record) => {
    const { tokens } = record as { tokens?: unknown }
    return { ...record, ...(typeof tokens === 'object' && tokens) } as Record<string, unknown>
  })
  const lines = [names, ...rows.map((row) => names.map((name) => row[name]))]
  return lines.map((cells) => `${cells.map(cell).join(',')}\n`).join('')
}

function cell(value: unknown): string {
  const said = String(value ?? '')
  return /[",\r\n]/.test(said) ? `"${said.replaceAll('"', '""')}"` : said
}
