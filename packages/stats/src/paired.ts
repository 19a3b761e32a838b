import { requireCount, requireFinite } from './check.js'
import { type Cluster, type Group, groupByTask, requireTwoTasks } from './clusters.js'
import { binomialCdf, tCdf, tQuantile } from './distributions.js'
import { type Interval, type IntervalOptions, tailOf } from './proportions.js'
import { randomNumbers } from './random.js'

/** One score of one task. */
export interface TaskValue {
  task: Cluster
  value: number
}

/** How two variants differ on the tasks that both tried. */
export interface PairedDifference extends Interval {
  /** Standard error of `estimate`. */
  se: number
  /** Two-sided: how often tasks without any difference would show one as large as this. */
  p: number
  /** The tasks that both have, in the order of the first list. */
  tasks: Cluster[]
  /** The mean of the second minus the mean of the first, of each of `tasks`. */
  differences: number[]
}

/**
 * The difference of two variants over the tasks that both tried, second minus first.
 *
 * The mean over common tasks of (mean of b − mean of a), with a t interval and test on T − 1 degrees of freedom (Student
 * 1908; for evaluations Miller 2024). Each task weighs the same, however often it was tried. A task that only one has is
 * left out. If all differences are equal, the interval is a point and `p` is 0 (1 if they are 0): read {@link signFlip}.
 *
 * @param a - Scores of the first, in any order, any number of each task.
 * @param b - Scores of the second.
 * @throws {RangeError} Fewer than two common tasks, or a value that is not finite.
 */
export function pairedDifference(
  a: readonly TaskValue[],
  b: readonly TaskValue[],
  { confidence = 0.95 }: IntervalOptions = {},
): PairedDifference {
  const tail = tailOf('pairedDifference', confidence)
  const first = meansByTask(a)
  const second = meansByTask(b)
  const tasks = [...first.keys()].filter((task) => second.has(task))
  requireTwoTasks('pairedDifference', tasks.length, ' that both have')
  const differences = tasks.map((task) => (second.get(task) ?? 0) - (first.get(task) ?? 0))
  const estimate = mean(differences)
  const df = tasks.length - 1
  const squares = differences.reduce((sum, difference) => sum + (difference - estimate) ** 2, 0)
  const se = Math.sqrt(squares / df / tasks.length)
  const half = -tQuantile(tail, df) * se
  const p = estimate === 0 ? 1 : 2 * tCdf(-Math.abs(estimate) / se, df)
  return { estimate, se, low: estimate - half, high: estimate + half, p, tasks, differences }
}

/** Options of {@link signFlip}. */
export interface SignFlipOptions {
  /** Determines the draws; 1 by default. */
  seed?: number
  /** How many, where not all are tried; 10,000 by default. */
  draws?: number
}

/**
 * Tests whether paired differences have mean 0, without assuming how they are distributed.
 *
 * If the variants are equal, each difference could as well have the other sign. `p` is the share of sign changes whose
 * sum is at least as far from 0 as the sum that was seen (Fisher 1935). Up to 20 differences that are not 0, all 2^T
 * changes are tried. Beyond, `draws` random ones are, and p = (1 + those)/(1 + draws), which is never 0 (Phipson & Smyth
 * 2010).
 *
 * @param differences - One for each task, for example those of {@link pairedDifference}.
 * @returns `p`, two-sided, and whether it is `exact`. The same seed always gives the same.
 * @throws {RangeError} No differences, one that is not finite, or `seed` or `draws` is not a whole number.
 */
export function signFlip(
  differences: readonly number[],
  { seed = 1, draws = 10_000 }: SignFlipOptions = {},
): { p: number; exact: boolean } {
  requireCount('signFlip: the number of differences', differences.length, 1)
  for (const [index, difference] of differences.entries()) {
    requireFinite(`signFlip: differences[${index}]`, difference)
  }
  requireCount('signFlip: seed', seed, 0)
  requireCount('signFlip: draws', draws, 1)
  const sizes = differences.filter((difference) => difference !== 0).map(Math.abs)
  // Sums of the same numbers in another order are equal, though rounding says they differ.
  const rounding = 1e-12 * sizes.reduce((sum, size) => sum + size, 0)
  const seen = Math.abs(differences.reduce((sum, difference) => sum + difference, 0)) - rounding
  if (sizes.length <= 20) return { p: countFlips(sizes, 0, 0, seen) / 2 ** sizes.length, exact: true }
  const random = randomNumbers(seed)
  let asFar = 0
  for (let draw = 0; draw < draws; draw++) {
    const sum = sizes.reduce((total, size) => (random() < 0.5 ? total - size : total + size), 0)
    if (Math.abs(sum) >= seen) asFar++
  }
  return { p: (1 + asFar) / (1 + draws), exact: false }
}

/** How many choices of signs for the sizes from `index` on bring `sum` as far from 0 as `seen`. */
function countFlips(sizes: number[], index: number, sum: number, seen: number): number {
  const size = sizes[index]
  if (size === undefined) return Math.abs(sum) >= seen ? 1 : 0
  return countFlips(sizes, index + 1, sum + size, seen) + countFlips(sizes, index + 1, sum - size, seen)
}

/**
 * Tests whether two variants, tried once on each task, succeed equally often.
 *
 * Only tasks on which they disagree count: twice the smaller binomial tail of `b` in `b + c` tries at ½, at most 1
 * (McNemar 1947, exact).
 *
 * @param b - Tasks on which only the first succeeds.
 * @param c - Tasks on which only the second succeeds.
 * @returns p, two-sided; 1 if they never disagree.
 * @throws {RangeError} `b` or `c` is not a whole number of at least 0.
 */
export function mcnemarExact(b: number, c: number): number {
  requireCount('mcnemarExact: b', b, 0)
  requireCount('mcnemarExact: c', c, 0)
  return Math.min(1, 2 * binomialCdf(Math.min(b, c), b + c, 0.5))
}

function meansByTask(scores: readonly TaskValue[]): Map<Cluster, number> {
  const groups = groupByTask(
    'pairedDifference: value',
    scores.map(({ task, value }) => [task, value]),
  )
  return new Map([...groups].map(([task, { sum, count }]: [Cluster, Group]) => [task, sum / count]))
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
