import { type Cluster, type Group, groupByTask, pairUp, requireTwoTasks } from './clusters.js'
import { normalQuantile, tQuantile } from './distributions.js'
import { type Interval, type IntervalOptions, scoreInterval, tailOf } from './proportions.js'

/** A rate over tasks: its interval, the number of values `n`, and of tasks, `clusters`. */
export interface Rate extends Interval {
  n: number
  clusters: number
}

/** A mean over tasks: as {@link Rate}, with its standard error `se` and the degrees of freedom `df` of its t. */
export interface ClusteredMean extends Rate {
  se: number
  df: number
}

/**
 * The mean of values that come in clusters, such as several scores of each task, with a t interval.
 *
 * se² = G/(G − 1) · Σ_g (Σ_{i in g} (x_i − mean))² / N², with G clusters, N values and G − 1 degrees of freedom
 * (CR1; Liang & Zeger 1986, for evaluations Miller 2024). With one value a cluster this is the ordinary standard error.
 * For scores that are all 0 or 1 use {@link rate}. If all values are equal, the interval is a point, because they do
 * not show how they vary.
 *
 * @param values - One score each.
 * @param tasks - The task of each score, in the same order. Tasks may have different numbers of scores.
 * @throws {RangeError} Fewer than two tasks, lists of different lengths, or a value that is not finite.
 */
export function clusteredMean(
  values: readonly number[],
  tasks: readonly Cluster[],
  { confidence = 0.95 }: IntervalOptions = {},
): ClusteredMean {
  const tail = tailOf('clusteredMean', confidence)
  const groups = [...groupByTask('clusteredMean: value', pairUp('clusteredMean', values, tasks)).values()]
  requireTwoTasks('clusteredMean', groups.length)
  const { mean, se } = meanOf(groups)
  const df = groups.length - 1
  const half = -tQuantile(tail, df) * se
  return { estimate: mean, se, df, low: mean - half, high: mean + half, n: values.length, clusters: df + 1 }
}

/**
 * The share of successes over tasks that were tried several times each.
 *
 * Wilson's interval with n* = n_eff · (z/t)² tries. n_eff = p(1 − p)/se², with the se of {@link clusteredMean}, is how
 * many independent tries these are worth; t has G − 1 degrees of freedom (Korn & Graubard 1998, who put n* into the
 * interval of Clopper and Pearson; Wilson's for evaluations Bowyer et al. 2025). n_eff is at most the number of tries N,
 * and at least N²/Σ m_g² with m_g tries of task g: what N tries are worth if those of a task always end alike. That is
 * the number of tasks if each was tried equally often, and it is n_eff if all values are equal. With one value a task
 * this is {@link wilson}.
 *
 * @param values - 0 or 1 each.
 * @param tasks - The task of each value, in the same order. Tasks may have different numbers of values.
 * @throws {RangeError} No value, several values of a single task, lists of different lengths, or a value that is not 0
 *   or 1.
 */
export function rate(
  values: readonly number[],
  tasks: readonly Cluster[],
  { confidence = 0.95 }: IntervalOptions = {},
): Rate {
  const tail = tailOf('rate', confidence)
  const groups = [...groupByTask('rate: value', pairUp('rate', values, tasks)).values()]
  const wrong = values.find((value) => value !== 0 && value !== 1)
  if (wrong !== undefined) throw new RangeError(`rate: values must be 0 or 1, got ${wrong}.`)
  const n = values.length
  const clusters = groups.length
  if (clusters !== n || n === 0) requireTwoTasks('rate', clusters)
  const { mean } = meanOf(groups)
  const interval =
    clusters === n
      ? scoreInterval(mean, n, -normalQuantile(tail))
      : // The same as with n* and z: n and z stand in the formula only as n/z².
        scoreInterval(mean, effectiveTries(groups, n), -tQuantile(tail, clusters - 1))
  return { ...interval, n, clusters }
}

/** How many independent tries the clustered ones are worth. */
function effectiveTries(groups: Group[], n: number): number {
  const fewest = n ** 2 / groups.reduce((sum, { count }) => sum + count ** 2, 0)
  const { mean, se } = meanOf(groups)
  if (mean === 0 || mean === 1) return fewest
  return Math.min(n, Math.max(fewest, (mean * (1 - mean)) / se ** 2))
}

function meanOf(groups: Group[]): { mean: number; se: number } {
  const n = groups.reduce((sum, { count }) => sum + count, 0)
  const mean = groups.reduce((total, { sum }) => total + sum, 0) / n
  const squares = groups.reduce((total, { sum, count }) => total + (sum - count * mean) ** 2, 0)
  return { mean, se: Math.sqrt((groups.length / (groups.length - 1)) * squares) / n }
}
