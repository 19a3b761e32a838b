import {
  clusteredMean,
  holm,
  minimumDetectableEffect,
  pairedDifference,
  passAtK,
  passHatK,
  quantile,
  rate,
  requiredTasks,
  signFlip,
  tiedSets,
} from '@delta/stats'
import { EvaluationError } from './errors.js'
import {
  type About,
  alarmsIn,
  cellsOfResults,
  cellsOfScores,
  isMissing,
  missingIn,
  mixturesIn,
  type ReportedCell,
  type Score,
} from './report-cells.js'
import { type CellCounts, type CellStatus, countCells } from './status.js'
import type { Plan, PlannedVariant } from './types.js'

/** A mean, with its interval; without one where a single task was tried, which says nothing of others. */
export type Estimate =
  | { estimate: number; low: number; high: number }
  | { estimate: number; low: null; high: null }

/** What the runs of a variant show. */
export interface ReportedVariant {
  name: string
  kind: PlannedVariant['kind']
  /** Tasks with a run that counts. */
  tasks: number
  /** Runs that count. */
  runs: number
  planned: number
  /** Runs that count in those that are planned, 0 to 1. */
  coverage: number
  /** Null below a coverage of 0.95. */
  score: Estimate | null
  /** For scores 0 and 1, by k: the chance that one of k tries succeeds. Null where no task was tried so often. */
  pass: Record<number, number | null>
  /** The chance that all k do. */
  pass_hat: Record<number, number | null>
  /** Means of what further scorers gave, and of metrics, as `scorer` and `scorer.metric`. */
  metrics: Record<string, number>
  /** Sums over the runs that count. `cost` in US dollars, null if unknown; `priced` is the share of tokens with a price. Null: no run says. */
  totals: { tokens: number; cost: number | null; priced: number } | null
  /** How long a run takes, without waiting. */
  seconds: { median: number; q1: number; q3: number } | null
  /** Why there is no score. */
  refused?: string
}

/** How `b` differs from `a`, on the tasks that both tried. */
export interface ReportedPair {
  a: string
  b: string
  tasks: number
  /** The mean of b − a over tasks. */
  difference: number
  /** Null where all differences are equal, so that they do not show how they vary. */
  low: number | null
  high: number | null
  /** p of the t test; where all differences are equal, `p_flip`. */
  p: number
  /** p of the sign flip test, which assumes no distribution. */
  p_flip: number
  /** `p`, adjusted for all pairs of agents in the report; that of a pair with an oracle or a nop for all such pairs. */
  p_holm: number
  /** The difference that is found 4 times in 5; null where all differences are equal. */
  detectable: number | null
  /** How many tasks find 0.05 as often; null where these do. */
  tasks_for_5_percent: number | null
}

/** What an evaluation shows. */
export interface EvalReport {
  eval: string
  sandboxes: string[]
  engines: string[]
  tasks: number
  repeats: number
  baseline: string
  /** `pending` are also those that run, or whose worker died. */
  cells: CellCounts
  coverage: number
  variants: ReportedVariant[]
  /** All pairs of variants that have a score, the baseline first. */
  pairs: ReportedPair[]
  /** The mean score of each task, in the order of `variants`; null where no run counts. */
  by_task: { task: string; means: (number | null)[] }[]
  /** Sets of agents that cannot be told apart at 5 %; oracle and nop are in none. */
  tied: string[][]
  /** An oracle below 1, or a nop above 0: something is wrong with the tasks. */
  alarms: string[]
  /** What was not the same everywhere. */
  notes: string[]
  /** Why cells do not count: how often each reason. */
  missing: Record<string, number>
}

/** Options of {@link report} and {@link reportOfScores}. */
export interface ReportOptions {
  /** What the others are compared with. Default: that of the plan, or the first variant. */
  baseline?: string | undefined
  /** True gives a score also to variants below a coverage of 0.95. */
  allowMissing?: boolean | undefined
}

/**
 * What the results of an evaluation show. Pure: the same results give the same.
 *
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`: there is no variant `baseline`.
 */
export function report(
  results: readonly CellStatus[],
  plan: Plan,
  { baseline = plan.baseline, ...options }: ReportOptions = {},
): EvalReport {
  const about: About = {
    name: plan.name,
    kinds: new Map(plan.variants.map(({ name, kind }) => [name, kind])),
    engine: plan.engine,
    sandbox: plan.sandbox,
    repeats: plan.repeats,
  }
  return reportOf(cellsOfResults(results), about, { baseline, ...options })
}

/**
 * As {@link report}, of anybody's scores.
 *
 * @param name - Stands at the head.
 * @throws {EvaluationError} `ERR_EVAL_NOT_FOUND`: there is no variant `baseline`.
 */
export function reportOfScores(
  scores: readonly Score[],
  name: string,
  options: ReportOptions = {},
): EvalReport {
  const cells = cellsOfScores(scores)
  const repeats = Math.max(0, ...cells.map(({ repeat }) => repeat))
  return reportOf(cells, { name, kinds: new Map(), repeats }, options)
}

function reportOf(cells: readonly ReportedCell[], about: About, options: ReportOptions): EvalReport {
  const names = namesIn(cells, about)
  const { baseline = names[0] ?? '' } = options
  if (!names.includes(baseline))
    throw new EvaluationError(
      'ERR_EVAL_NOT_FOUND',
      `There is no variant ${baseline} to compare with. Variants: ${names.join(', ')}.`,
    )
  const counted = cells.filter((cell) => !isMissing(cell))
  const variants = names.map((name) =>
    reportedVariant(
      name,
      cells.filter(({ variant }) => variant === name),
      { about, allowMissing: options.allowMissing ?? false },
    ),
  )
  const compared = variants.filter(({ score }) => score !== null).map(({ name }) => name)
  const ordered = [
    ...compared.filter((name) => name === baseline),
    ...compared.filter((name) => name !== baseline),
  ]
  const pairs = pairsOf(ordered, counted, about)
  const { engines, sandboxes, notes } = mixturesIn(counted, about)
  const { running, lost, ...counts } = countCells(cells.map(({ state }) => state))
  return {
    eval: about.name,
    sandboxes,
    engines,
    tasks: new Set(cells.map(({ task }) => task)).size,
    repeats: about.repeats,
    baseline,
    cells: { ...counts, pending: counts.pending + running + lost },
    coverage: cells.length === 0 ? 0 : counted.length / cells.length,
    variants,
    pairs,
    by_task: byTaskOf(names, counted),
    tied: tiedOf(ordered.filter(isAgentIn(about)), pairs),
    alarms: alarmsIn(counted, about),
    notes: [...notes, ...unpriced(variants), ...uncompared(ordered, pairs)],
    missing: missingIn(cells),
  }
}

function namesIn(cells: readonly ReportedCell[], { kinds }: About): string[] {
  return [...new Set([...kinds.keys(), ...cells.map(({ variant }) => variant)])]
}

function reportedVariant(
  name: string,
  planned: readonly ReportedCell[],
  { about, allowMissing }: { about: About; allowMissing: boolean },
): ReportedVariant {
  const cells = planned.filter((cell) => !isMissing(cell))
  const coverage = planned.length === 0 ? 0 : cells.length / planned.length
  // In whole numbers, so that 95 % exactly is enough.
  const isScored = cells.length > 0 && (20 * cells.length >= 19 * planned.length || allowMissing)
  const kind = about.kinds.get(name) ?? 'agent'
  const base = {
    name,
    kind,
    tasks: new Set(cells.map(({ task }) => task)).size,
    runs: cells.length,
    planned: planned.length,
    coverage,
    metrics: metricsOf(cells),
    totals: kind === 'agent' ? totalsOf(cells) : NO_MODEL,
    seconds: secondsOf(cells),
  }
  if (isScored) return { ...base, score: scoreOf(cells), ...passesOf(cells, about.repeats) }
  const missing = `${planned.length - cells.length} of ${planned.length} cells missing`
  return { ...base, score: null, pass: {}, pass_hat: {}, refused: missing }
}

const scoreIn = ({ score }: ReportedCell) => score ?? 0

function scoreOf(cells: readonly ReportedCell[]): Estimate {
  const values = cells.map(scoreIn)
  const tasks = cells.map(({ task }) => task)
  if (new Set(tasks).size < 2)
    return {
      estimate: values.reduce((sum, value) => sum + value, 0) / values.length,
      low: null,
      high: null,
    }
  const { estimate, low, high } = isBinary(values) ? rate(values, tasks) : clusteredMean(values, tasks)
  return { estimate, low, high }
}

function isBinary(values: readonly number[]): boolean {
  return values.every((value) => value === 0 || value === 1)
}

function passesOf(
  cells: readonly ReportedCell[],
  repeats: number,
): Pick<ReportedVariant, 'pass' | 'pass_hat'> {
  if (!isBinary(cells.map(scoreIn))) return { pass: {}, pass_hat: {} }
  const tries = [...byTask(cells).values()].map((values) => ({
    n: values.length,
    c: values.filter((value) => value === 1).length,
  }))
  const meanOf = (f: typeof passAtK, k: number) => {
    const enough = tries.filter(({ n }) => n >= k)
    if (enough.length === 0) return null
    return enough.reduce((sum, { n, c }) => sum + f(n, c, k), 0) / enough.length
  }
  const ks = [...[1, 2, 5, 10, 20, 50, 100].filter((k) => k < repeats), repeats]
  return {
    pass: Object.fromEntries(ks.map((k) => [k, meanOf(passAtK, k)])),
    pass_hat: Object.fromEntries(ks.map((k) => [k, meanOf(passHatK, k)])),
  }
}

function byTask(cells: readonly ReportedCell[]): Map<string, number[]> {
  const found = new Map<string, number[]>()
  for (const cell of cells) found.set(cell.task, [...(found.get(cell.task) ?? []), scoreIn(cell)])
  return found
}

function byTaskOf(names: readonly string[], counted: readonly ReportedCell[]): EvalReport['by_task'] {
  const values = names.map((name) => byTask(counted.filter(({ variant }) => variant === name)))
  const tasks = [...new Set(counted.map(({ task }) => task))].sort()
  return tasks.map((task) => ({
    task,
    means: values.map((ofVariant) => {
      const scores = ofVariant.get(task)
      return scores === undefined ? null : scores.reduce((sum, one) => sum + one, 0) / scores.length
    }),
  }))
}

function metricsOf(cells: readonly ReportedCell[]): Record<string, number> {
  const names = [...new Set(cells.flatMap(({ metrics }) => Object.keys(metrics)))].sort()
  return Object.fromEntries(
    names.map((name) => {
      const values = cells.flatMap(({ metrics }) => metrics[name] ?? [])
      return [name, values.reduce((sum, value) => sum + value, 0) / values.length]
    }),
  )
}

/** The turns of an oracle and a nop are ours. */
const NO_MODEL = { tokens: 0, cost: 0, priced: 1 }

function totalsOf(cells: readonly ReportedCell[]): ReportedVariant['totals'] {
  const spent = cells.flatMap(({ spent: each }) => each ?? [])
  if (spent.length === 0) return null
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
  const tokens = sum(spent.map((each) => each.tokens))
  const costs = spent.flatMap(({ cost }) => cost ?? [])
  return {
    tokens,
    cost: tokens === 0 ? 0 : costs.length === 0 ? null : sum(costs),
    priced: tokens === 0 ? 1 : sum(spent.map((each) => each.priced * each.tokens)) / tokens,
  }
}

function secondsOf(cells: readonly ReportedCell[]): ReportedVariant['seconds'] {
  const seconds = cells.flatMap((cell) => cell.seconds ?? [])
  if (seconds.length === 0) return null
  return { median: quantile(seconds, 0.5), q1: quantile(seconds, 0.25), q3: quantile(seconds, 0.75) }
}

function unpriced(variants: readonly ReportedVariant[]): string[] {
  return variants.flatMap(({ name, totals }) =>
    totals && totals.cost !== null && totals.priced < 1
      ? `Cost of ${name}: only ${Math.floor(100 * totals.priced)} % of its tokens have a price.`
      : [],
  )
}

/** False for an oracle and a nop. */
function isAgentIn({ kinds }: About): (variant: string) => boolean {
  return (variant) => (kinds.get(variant) ?? 'agent') === 'agent'
}

type Pair = Omit<ReportedPair, 'p_holm'>

/** Comparisons of agents are one family, those with an oracle or a nop another: controls do not make agents harder to tell apart. */
function pairsOf(names: readonly string[], counted: readonly ReportedCell[], about: About): ReportedPair[] {
  const isAgent = isAgentIn(about)
  const areAgents = ({ a, b }: Pair) => isAgent(a) && isAgent(b)
  const values = new Map(
    names.map((name) => [
      name,
      counted.flatMap((cell) => (cell.variant === name ? { task: cell.task, value: scoreIn(cell) } : [])),
    ]),
  )
  const tasks = new Set(counted.map(({ task }) => task)).size
  const draws = drawsFor((tasks * names.length * (names.length - 1)) / 2)
  const pairs = names.flatMap((a, at) =>
    names.slice(at + 1).flatMap((b) => pairOf([a, b], values, draws) ?? []),
  )
  return [...adjusted(pairs.filter(areAgents)), ...adjusted(pairs.filter((pair) => !areAgents(pair)))]
    .sort((one, other) => pairs.indexOf(one.pair) - pairs.indexOf(other.pair))
    .map(({ pair, p_holm }) => ({ ...pair, p_holm }))
}

function adjusted(pairs: readonly Pair[]): { pair: Pair; p_holm: number }[] {
  const all = holm(pairs.map(({ p }) => p))
  return pairs.map((pair, at) => ({ pair, p_holm: all[at] ?? 1 }))
}

/** Fewer where there are so many differences that a report would take a minute. */
function drawsFor(differences: number): number {
  return Math.min(10_000, Math.max(1000, Math.floor(2e8 / Math.max(1, differences))))
}

function pairOf(
  [a, b]: readonly [string, string],
  values: ReadonlyMap<string, readonly { task: string; value: number }[]>,
  draws: number,
): Pair | undefined {
  const [first, second] = [values.get(a) ?? [], values.get(b) ?? []]
  const others = new Set(second.map(({ task }) => task))
  if (new Set(first.flatMap(({ task }) => (others.has(task) ? task : []))).size < 2) return undefined
  const { estimate, se, low, high, p, tasks, differences } = pairedDifference(first, second)
  const pFlip = signFlip(differences, { draws }).p
  const pair = { a, b, tasks: tasks.length, difference: estimate, p_flip: pFlip }
  if (differences.every((difference) => Math.abs(difference - estimate) < ROUNDING))
    return { ...pair, low: null, high: null, p: pFlip, detectable: null, tasks_for_5_percent: null }
  const sd = se * Math.sqrt(tasks.length)
  const needed = requiredTasks({ sd, effect: 0.05 })
  return {
    ...pair,
    low,
    high,
    p,
    detectable: minimumDetectableEffect({ sd, n: tasks.length }),
    tasks_for_5_percent: needed > tasks.length ? needed : null,
  }
}

/** What sums of equal numbers differ by. */
const ROUNDING = 1e-12

function uncompared(names: readonly string[], pairs: readonly ReportedPair[]): string[] {
  const [baseline, ...others] = names
  const without = others.filter((name) => !pairs.some(({ a, b }) => a === baseline && b === name))
  if (without.length === 0) return []
  return [
    `Not compared with ${baseline}: ${without.join(', ')}. They have fewer than two tasks in common, and only tasks are evidence.`,
  ]
}

/** Variants of a pair that could not be compared are not told apart. */
function tiedOf(names: readonly string[], pairs: readonly ReportedPair[]): string[][] {
  const pOf = (one: string, other: string) =>
    pairs.find(({ a, b }) => (a === one && b === other) || (a === other && b === one))?.p_holm ?? 1
  return tiedSets(
    names,
    names.map((one) => names.map((other) => pOf(one, other))),
  )
}
