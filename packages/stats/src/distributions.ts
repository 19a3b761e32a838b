import { requireBetween, requireCount, requireNumber, requireWithin } from './check.js'
import { regularizedBeta } from './regularized-beta.js'

/** The range of shapes, degrees of freedom and tries: the time of a beta distribution grows with their square root. */
const SMALLEST_SHAPE = 1e-6
const LARGEST = 1e9

/**
 * The standard normal distribution: P(Z ≤ x).
 *
 * A power series below 3, a continued fraction (Laplace 1805) above.
 *
 * @param x - Any number; the infinities give 0 and 1.
 * @returns Exact to 1e-12 of its size, also in the lower tail.
 * @throws {RangeError} `x` is NaN.
 */
export function normalCdf(x: number): number {
  requireNumber('normalCdf: x', x)
  return x > 0 ? 1 - normalTail(x) : normalTail(-x)
}

/** P(Z > x) for x ≥ 0. */
function normalTail(x: number): number {
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)
  if (density === 0) return 0
  if (x < 3) {
    let sum = 0
    let term = x
    for (let k = 3; sum + term !== sum; k += 2) {
      sum += term
      term *= (x * x) / k
    }
    return 0.5 - density * sum
  }
  let fraction = x
  for (let k = 100; k > 0; k--) fraction = x + k / fraction
  return density / fraction
}

/**
 * The x with P(Z ≤ x) = p: 1.96 for 0.975.
 *
 * Bisection of {@link normalCdf}.
 *
 * @param p - Between 0 and 1, without them.
 * @throws {RangeError} `p` is not.
 */
export function normalQuantile(p: number): number {
  requireBetween('normalQuantile: p', p, 0, 1)
  if (p > 0.5) return -normalQuantile(1 - p)
  return p === 0.5 ? 0 : bisect(normalCdf, p, -40, 0)
}

/**
 * Student's t distribution: P(T ≤ x) (Student 1908).
 *
 * By the incomplete beta function: ½ I_{df/(df + x²)}(df/2, ½) for x ≤ 0.
 *
 * @param x - Any number; the infinities give 0 and 1.
 * @param df - Degrees of freedom, from 1 to 1e9; need not be whole.
 * @returns Exact to 1e-9 of its size, also in the lower tail.
 * @throws {RangeError} `x` is NaN, or `df` is out of its range.
 */
export function tCdf(x: number, df: number): number {
  requireNumber('tCdf: x', x)
  requireDegreesOfFreedom('tCdf', df)
  const ratio = (x * x) / df
  const tail = regularizedBeta(1 / (1 + ratio), 1 / (1 + 1 / ratio), df / 2, 0.5) / 2
  return x > 0 ? 1 - tail : tail
}

/** Below this t has no quantile in floating point: with one degree of freedom its square is too large. */
const SMALLEST_T_TAIL = 1e-100

/**
 * The x with P(T ≤ x) = p: 2.03 for 0.975 and 33 degrees of freedom.
 *
 * Bisection of {@link tCdf}.
 *
 * @param p - From 1e-100 to below 1.
 * @param df - Degrees of freedom, from 1 to 1e9; need not be whole.
 * @throws {RangeError} `p` or `df` is not.
 */
export function tQuantile(p: number, df: number): number {
  requireBetween('tQuantile: p', p, SMALLEST_T_TAIL, 1)
  requireDegreesOfFreedom('tQuantile', df)
  if (p > 0.5) return -tQuantile(1 - p, df)
  if (p === 0.5) return 0
  let low = -1
  while (tCdf(low, df) > p) low *= 2
  return bisect((x) => tCdf(x, df), p, low, 0)
}

function requireDegreesOfFreedom(name: string, df: number): void {
  requireWithin(`${name}: df`, df, 1, LARGEST)
}

/**
 * The x below which a share p of a beta distribution lies.
 *
 * Bisection of the incomplete beta function.
 *
 * @param p - From 0 to 1.
 * @param a - First shape, from 1e-6 to 1e9.
 * @param b - Second shape, from 1e-6 to 1e9.
 * @returns From 0 to 1.
 * @throws {RangeError} `p`, `a` or `b` is not.
 */
export function betaQuantile(p: number, a: number, b: number): number {
  requireWithin('betaQuantile: p', p, 0, 1)
  requireWithin('betaQuantile: a', a, SMALLEST_SHAPE, LARGEST)
  requireWithin('betaQuantile: b', b, SMALLEST_SHAPE, LARGEST)
  if (p === 0 || p === 1) return p
  return bisect((x) => regularizedBeta(x, 1 - x, a, b), p, 0, 1)
}

/**
 * The chance of at most k successes in n tries that succeed with probability p each.
 *
 * By the incomplete beta function: I_{1−p}(n − k, k + 1).
 *
 * @param k - From 0 to `n`.
 * @param n - From 0 to 1e9.
 * @throws {RangeError} `k` or `n` is not a whole number in its range, or `p` is not from 0 to 1.
 */
export function binomialCdf(k: number, n: number, p: number): number {
  requireCount('binomialCdf: n', n, 0, LARGEST)
  requireCount('binomialCdf: k', k, 0, n, 'n = ')
  requireWithin('binomialCdf: p', p, 0, 1)
  return k === n ? 1 : regularizedBeta(1 - p, p, n - k, k + 1)
}

/** Where an increasing function reaches `wanted`: halves until no number lies between the ends. */
function bisect(increasing: (x: number) => number, wanted: number, from: number, to: number): number {
  let low = from
  let high = to
  for (;;) {
    const middle = low + (high - low) / 2
    if (middle === low || middle === high) return high
    if (increasing(middle) < wanted) low = middle
    else high = middle
  }
}
