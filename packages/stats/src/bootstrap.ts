import { requireCount, requireFinite, requireWithin } from './check.js'
import { type Cluster, pairUp, requireTwoTasks } from './clusters.js'
import { type Interval, type IntervalOptions, tailOf } from './proportions.js'
import { randomNumbers } from './random.js'

/**
 * The value below which a share q of the values lies; the median for 0.5.
 *
 * Between the two nearest of the sorted values, in proportion: x_(h) at h = (N − 1) q, counted from 0 (Hyndman & Fan
 * 1996, type 7, the default of R and NumPy).
 *
 * @param values - At least one, in any order.
 * @param q - From 0 to 1.
 * @throws {RangeError} No values, one that is not finite, or `q` is not from 0 to 1.
 */
export function quantile(values: readonly number[], q: number): number {
  requireCount('quantile: the number of values', values.length, 1)
  for (const [index, value] of values.entries()) requireFinite(`quantile: values[${index}]`, value)
  requireWithin('quantile: q', q, 0, 1)
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  const share = at - Math.floor(at)
  return below * (1 - share) + above * share
}

/** Options of {@link bootstrap}. */
export interface BootstrapOptions extends IntervalOptions {
  /** Determines the draws; 1 by default. */
  seed?: number
  /** How many samples are drawn; 10,000 by default. */
  draws?: number
  /** The task of each value, in the same order; without it, each value is one of its own. */
  clusters?: readonly Cluster[]
}

/**
 * An interval for any figure of a sample: a median, a ratio of sums, a cost per success.
 *
 * Draws samples of as many tasks as there are, with replacement, whole tasks at a time, and takes the quantiles of the
 * figure over them (percentile method: Efron 1979; whole clusters: Davison & Hinkley 1997). With fewer than about 30
 * tasks the interval is too narrow; for means and shares take {@link clusteredMean} and {@link rate}.
 *
 * @param values - Anything `f` understands.
 * @param f - The figure of a sample; must be finite for every one that can be drawn.
 * @returns `f(values)` and its interval. The same seed always gives the same.
 * @throws {RangeError} Fewer than two values or clusters, lists of different lengths, an option out of its range, or
 *   `f` returns what is not a finite number.
 */
export function bootstrap<T>(
  values: readonly T[],
  f: (sample: readonly T[]) => number,
  { seed = 1, draws = 10_000, clusters, confidence = 0.95 }: BootstrapOptions = {},
): Interval {
  const tail = tailOf('bootstrap', confidence)
  requireCount('bootstrap: seed', seed, 0)
  requireCount('bootstrap: draws', draws, 1)
  const groups = wholeClusters(values, clusters ?? [...values.keys()])
  requireTwoTasks('bootstrap', groups.length)
  const random = randomNumbers(seed)
  const figures = Array.from({ length: draws }, () => figureOf(f, drawn(groups, random)))
  return {
    estimate: figureOf(f, values),
    low: quantile(figures, tail),
    high: quantile(figures, 1 - tail),
  }
}

function wholeClusters<T>(values: readonly T[], clusters: readonly Cluster[]): T[][] {
  const groups = new Map<Cluster, T[]>()
  for (const [cluster, value] of pairUp('bootstrap', values, clusters)) {
    const group = groups.get(cluster)
    if (group) group.push(value)
    else groups.set(cluster, [value])
  }
  return [...groups.values()]
}

/** As many clusters as there are, some of them several times. */
function drawn<T>(groups: T[][], random: () => number): T[] {
  const sample: T[] = []
  for (let count = 0; count < groups.length; count++) {
    for (const value of groups[Math.floor(random() * groups.length)] ?? []) sample.push(value)
  }
  return sample
}

function figureOf<T>(f: (sample: readonly T[]) => number, sample: readonly T[]): number {
  const figure = f(sample)
  requireFinite(`bootstrap: f of a sample of ${sample.length}`, figure)
  return figure
}
