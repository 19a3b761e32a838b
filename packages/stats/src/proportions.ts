import { requireBetween, requireCount } from './check.js'
import { betaQuantile, normalQuantile } from './distributions.js'

/** An estimate, and the confidence interval around it. */
export interface Interval {
  estimate: number
  low: number
  high: number
}

/** Options of everything that returns an interval. */
export interface IntervalOptions {
  /** How often such intervals hold the truth, between 0 and 1; 0.95 by default. */
  confidence?: number
}

/**
 * The share of successes in independent tries, with Wilson's interval.
 *
 * The proportions π that the score test does not reject: |k/n − π| ≤ z √(π(1 − π)/n) (Wilson 1927). It works for any n
 * and k, also for 0 and n, where k/n ± z·se has no width. For tries of the same task use {@link rate}.
 *
 * @param k - Successes, from 0 to `n`.
 * @param n - Tries, from 1 to 1e9.
 * @throws {RangeError} `k`, `n` or `confidence` is out of its range.
 */
export function wilson(k: number, n: number, { confidence = 0.95 }: IntervalOptions = {}): Interval {
  requireShare('wilson', k, n)
  return scoreInterval(k / n, n, -normalQuantile(tailOf('wilson', confidence)))
}

/**
 * The share of successes in independent tries, with the exact interval of Clopper and Pearson.
 *
 * From the α/2 quantile of Beta(k, n − k + 1) to the 1 − α/2 quantile of Beta(k + 1, n − k) (Clopper & Pearson 1934).
 * It never holds the truth less often than `confidence` says, so it is wider than {@link wilson}.
 *
 * @param k - Successes, from 0 to `n`.
 * @param n - Tries, from 1 to 1e9.
 * @throws {RangeError} `k`, `n` or `confidence` is out of its range.
 */
export function clopperPearson(k: number, n: number, { confidence = 0.95 }: IntervalOptions = {}): Interval {
  requireShare('clopperPearson', k, n)
  const tail = tailOf('clopperPearson', confidence)
  return {
    estimate: k / n,
    low: k === 0 ? 0 : betaQuantile(tail, k, n - k + 1),
    high: k === n ? 1 : betaQuantile(1 - tail, k + 1, n - k),
  }
}

/**
 * The difference of two shares of independent tries, second minus first.
 *
 * From d − √((p₂ − low₂)² + (high₁ − p₁)²) to d + √((high₂ − p₂)² + (p₁ − low₁)²), with the Wilson intervals of both
 * (Newcombe 1998, method 10). For tables without pairs: where both were tried on the same tasks,
 * {@link pairedDifference} finds more.
 *
 * @param k1 - Successes of the first, from 0 to `n1`.
 * @param n1 - Tries of the first, from 1 to 1e9.
 * @throws {RangeError} A count or `confidence` is out of its range.
 */
export function newcombe(
  k1: number,
  n1: number,
  k2: number,
  n2: number,
  { confidence = 0.95 }: IntervalOptions = {},
): Interval {
  requireShare('newcombe', k1, n1, '1')
  requireShare('newcombe', k2, n2, '2')
  const z = -normalQuantile(tailOf('newcombe', confidence))
  const first = scoreInterval(k1 / n1, n1, z)
  const second = scoreInterval(k2 / n2, n2, z)
  const estimate = second.estimate - first.estimate
  return {
    estimate,
    low: estimate - Math.hypot(second.estimate - second.low, first.high - first.estimate),
    high: estimate + Math.hypot(second.high - second.estimate, first.estimate - first.low),
  }
}

/** The score interval of a share of `n` tries; `n` need not be whole, `z` may be a quantile of t. */
export function scoreInterval(share: number, n: number, z: number): Interval {
  const shrink = 1 + (z * z) / n
  const centre = (share + (z * z) / (2 * n)) / shrink
  const half = (z / shrink) * Math.sqrt((share * (1 - share)) / n + (z / (2 * n)) ** 2)
  // At the edges the exact ends are 0 and 1, which rounding would miss.
  return {
    estimate: share,
    low: share === 0 ? 0 : centre - half,
    high: share === 1 ? 1 : centre + half,
  }
}

/** The probability on either side of an interval: 0.025 for 0.95. */
export function tailOf(name: string, confidence: number): number {
  requireBetween(`${name}: confidence`, confidence, 0, 1)
  return (1 - confidence) / 2
}

function requireShare(name: string, k: number, n: number, suffix = ''): void {
  requireCount(`${name}: n${suffix}`, n, 1, 1e9)
  requireCount(`${name}: k${suffix}`, k, 0, n, `n${suffix} = `)
}
