import { columnsOf } from '@delta/config-loader/internal'
import { type EvalCommands, USUAL_COMMANDS } from './commands.js'
import type { EvalReport, ReportedPair, ReportedVariant } from './report.js'
import { isOfEvalFile } from './status.js'

/** A report for people: tables of plain text, ending with a newline. Names may hold control characters of whoever wrote them. `commands`: how the evaluation is named. */
export function reportText(report: EvalReport, commands = USUAL_COMMANDS): string {
  const lines = partsOf(report, commands).flatMap((part) => part.lines)
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}

/** The text of a report, cut where a table begins or ends. */
export function partsOf(
  report: EvalReport,
  commands: EvalCommands,
): { kind: 'alarm' | 'words' | 'table'; lines: string[] }[] {
  return [
    { kind: 'alarm', lines: report.alarms },
    { kind: 'words', lines: [headLine(report)] },
    { kind: 'table', lines: variantTable(report, commands) },
    { kind: 'table', lines: pairTable(report) },
    { kind: 'words', lines: [...tiedLine(report), ...report.notes, ...missingLines(report, commands)] },
  ]
}

function headLine({ eval: name, cells, coverage, engines, sandboxes, ...report }: EvalReport): string {
  const { tasks, repeats, variants } = report
  const size = `${counted(tasks, 'task')} x ${counted(variants.length, 'variant')} x ${counted(repeats, 'repeat')}`
  const isGrid = tasks * variants.length * repeats === cells.planned
  const states = [
    `${cells.scored} scored`,
    `${cells.unscored_agent} unscored-agent`,
    `${cells.unscored_infra} unscored-infra`,
    `${cells.invalid} invalid`,
    ...(cells.pending > 0 ? [`${cells.pending} without a result`] : []),
  ]
  const made = [
    ...(sandboxes.length > 0 ? [`Sandbox ${sandboxes.join(', ')}.`] : []),
    ...(engines.length > 0 ? [`Engine ${engines.join(', ')}.`] : []),
  ]
  return [
    `${name}: ${size}${isGrid ? ' =' : ','} ${counted(cells.planned, 'cell')}: ${states.join(', ')}.`,
    `Coverage ${percent(coverage)}.`,
    ...made,
  ].join(' ')
}

/** The second word is where a text stands in its column. */
type Column = readonly [title: string, side: 'left' | 'right']

function variantTable(report: EvalReport, commands: EvalCommands): string[] {
  const k = report.repeats
  const hasPasses = k > 1 && report.variants.some(({ pass }) => pass[k] !== undefined)
  const hasTotals = report.variants.some(({ totals }) => totals !== null)
  const columns: Column[] = [
    ['VARIANT', 'left'],
    ['TASKS', 'right'],
    ['RUNS', 'right'],
    ['COVERAGE', 'right'],
    ['SCORE', 'right'],
    ['95 % INTERVAL', 'left'],
    ...(hasPasses ? ([[`pass@${k}`, 'right'] as const, [`pass^${k}`, 'right'] as const] as const) : []),
    ...(hasTotals
      ? ([
          ['TOKENS/RUN', 'right'] as const,
          ['COST', 'right'] as const,
          ['TIME/RUN', 'right'] as const,
        ] as const)
      : []),
  ]
  const rows = report.variants.map((variant) => {
    const { name, tasks, runs, coverage, score, pass, pass_hat, totals, seconds } = variant
    const first = [name, String(tasks), String(runs), percent(coverage)]
    if (score === null) return { cells: [...first, '-'], after: refusal(variant, report, commands) }
    return {
      cells: [
        ...first,
        fixed(score.estimate),
        score.low === null ? '-' : `${fixed(score.low)} .. ${fixed(score.high)}`,
        ...(hasPasses ? [orDash(pass[k], fixed), orDash(pass_hat[k], fixed)] : []),
        ...(hasTotals
          ? [
              orDash(totals, ({ tokens }) => grouped(Math.round(tokens / runs))),
              orDash(totals?.cost, money),
              orDash(seconds, ({ median }) => time(median)),
            ]
          : []),
      ],
    }
  })
  return table(columns, rows)
}

function refusal(
  { coverage, refused = '' }: ReportedVariant,
  { cells, engines, missing }: EvalReport,
  { run, retry }: EvalCommands,
): string {
  const next = cells.pending > 0 || Object.keys(missing).every(isOfEvalFile) ? run : retry
  return `(coverage ${percent(coverage)}: ${refused}; ${engines.length > 0 ? `${next}, or ` : ''}--allow-missing)`
}

function pairTable({ baseline, pairs }: EvalReport): string[] {
  const against = pairs.filter(({ a }) => a === baseline)
  if (against.length === 0) return []
  const columns: Column[] = [
    [`AGAINST ${baseline}`, 'left'],
    ['TASKS', 'right'],
    ['DIFFERENCE', 'right'],
    ['95 % INTERVAL', 'left'],
    ['p', 'right'],
    ['p (flip)', 'right'],
    ['p (Holm)', 'right'],
  ]
  const rows = against.map(({ b, tasks, difference, low, high, p, p_flip, p_holm }) => ({
    cells: [
      b,
      String(tasks),
      signed(difference),
      low === null || high === null ? '-' : `${signed(low)} .. ${signed(high)}`,
      chance(p),
      chance(p_flip),
      chance(p_holm),
    ],
  }))
  return table(columns, rows)
}

function tiedLine(report: EvalReport): string[] {
  const { tied, variants } = report
  const agents = variants.filter(({ kind, score }) => kind === 'agent' && score !== null)
  const sets = tied.length === 0 ? 'none' : tied.map((set) => set.join(' = ')).join('; ')
  const widest = widestPair(report)
  const sentences = [agents.length > 1 && `Not told apart at 5 %: ${sets}.`, widest && powerOf(widest)]
  const line = sentences.filter(Boolean).join(' ')
  return line === '' ? [] : [line]
}

/** The comparison with the baseline that finds least. One of agents, if there is one: oracle and nop are not what is asked about. */
function widestPair({ pairs, baseline, variants }: EvalReport): ReportedPair | undefined {
  const agents = new Set(variants.flatMap(({ name, kind }) => (kind === 'agent' ? name : [])))
  const against = pairs.filter(({ a, detectable }) => a === baseline && detectable !== null)
  const ofAgents = against.filter(({ a, b }) => agents.has(a) && agents.has(b))
  const [first, ...others] = ofAgents.length > 0 ? ofAgents : against
  return others.reduce(
    (most, pair) => ((pair.detectable ?? 0) > (most?.detectable ?? 0) ? pair : most),
    first,
  )
}

function powerOf({ a, b, tasks, detectable, tasks_for_5_percent: needed }: ReportedPair): string {
  const found = `With ${tasks} tasks a difference of ${(detectable ?? 0).toFixed(2)} between ${a} and ${b} is found 4 times in 5`
  return `${found}${needed === null ? '' : `; for 0.05 take ${grouped(needed)} tasks`} (more repeats do not replace tasks).`
}

function missingLines({ cells, missing, engines }: EvalReport, { run, retry }: EvalCommands): string[] {
  const count = cells.unscored_infra + cells.invalid
  const isOurs = engines.length > 0
  const ways = [
    retry,
    cells.invalid > 0 && 'invalid ones with --fresh',
    Object.keys(missing).some(isOfEvalFile) && `after a change of eval.yaml or its scorers: ${run}`,
  ]
  const how = ` (${ways.filter(Boolean).join('; ')})`
  const reasons = Object.entries(missing).map(([reason, times]) => `${withCount(reason, times)}`)
  return [
    ...(count > 0
      ? [`${counted(count, 'cell')} ${areOf(count)} missing${isOurs ? how : ''}: ${reasons.join(', ')}.`]
      : []),
    ...(cells.pending > 0
      ? [`${counted(cells.pending, 'cell')} ${cells.pending === 1 ? 'has' : 'have'} no result yet: ${run}`]
      : []),
  ]
}

/** `timed out (advice)` as `timed out (3 cells; advice)`. */
function withCount(reason: string, cells: number): string {
  const [, what = reason, advice] = /^(.*) \((.*)\)$/.exec(reason) ?? []
  return `${what} (${counted(cells, 'cell')}${advice === undefined ? '' : `; ${advice}`})`
}

interface Row {
  cells: readonly string[]
  /** Follows the last cell, in no column. */
  after?: string
}

function table(columns: readonly Column[], rows: readonly Row[]): string[] {
  const all: Row[] = [{ cells: columns.map(([title]) => title) }, ...rows].map(({ cells, ...rest }) => ({
    cells: cells.map((cell) => cell.replaceAll(/\s+/g, ' ')),
    ...rest,
  }))
  const widths = columns.map((_, at) => Math.max(...all.map(({ cells }) => columnsOf(cells[at] ?? ''))))
  return all.map(({ cells, after }) => {
    const padded = cells.map((cell, at) => {
      const room = ' '.repeat((widths[at] ?? 0) - columnsOf(cell))
      return columns[at]?.[1] === 'left' ? `${cell}${room}` : `${room}${cell}`
    })
    return [...padded, ...(after === undefined ? [] : [after])].join('  ')
  })
}

function orDash<T>(value: T | null | undefined, inWords: (value: T) => string): string {
  return value === null || value === undefined ? '-' : inWords(value)
}

function counted(count: number, what: string): string {
  return `${grouped(count)} ${what}${count === 1 ? '' : 's'}`
}

function areOf(count: number): string {
  return count === 1 ? 'is' : 'are'
}

/** Three decimals; zero has no sign. */
export function fixed(value: number): string {
  const text = value.toFixed(3)
  return text === '-0.000' ? '0.000' : text
}

export function signed(value: number): string {
  const text = fixed(value)
  return text.startsWith('-') || Number(text) === 0 ? text : `+${text}`
}

/** Rounded down, so that what is not whole does not look so. */
function percent(share: number): string {
  return `${Math.floor(Number((share * 1000).toFixed(6))) / 10} %`
}

function chance(p: number): string {
  return p < 0.001 ? '<0.001' : p.toFixed(3)
}

/** Not of the locale: a report is the same everywhere. */
function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}

export function money(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return `$${dollars.toPrecision(2)}`
  const [whole = '', cents = ''] = dollars.toFixed(2).split('.')
  return `$${grouped(Number(whole))}.${cents}`
}

function time(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  return whole < 120 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
