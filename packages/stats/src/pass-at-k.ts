import { requireCount } from './check.js'

/**
 * The chance that at least one of k tries of a task succeeds, from n tries of which c did.
 *
 * 1 − C(n − c, k)/C(n, k): the share of all choices of k of the n tries that hold a success. It is unbiased, which
 * 1 − (1 − c/n)^k is not (Chen et al. 2021). Take the mean over tasks.
 *
 * @param n - Tries of the task, at least 1.
 * @param c - Successes among them, from 0 to `n`.
 * @param k - From 1 to `n`.
 * @throws {RangeError} One of them is not a whole number in its range.
 */
export function passAtK(n: number, c: number, k: number): number {
  requireTries('passAtK', n, c, k)
  return 1 - shareOfChoices(n, n - c, k)
}

/**
 * The chance that all of k tries of a task succeed, from n tries of which c did: pass^k, for what must not fail.
 *
 * C(c, k)/C(n, k): the share of all choices of k of the n tries that hold successes only (Yao et al. 2024, τ-bench).
 * Take the mean over tasks.
 *
 * @param n - Tries of the task, at least 1.
 * @param c - Successes among them, from 0 to `n`.
 * @param k - From 1 to `n`.
 * @throws {RangeError} One of them is not a whole number in its range.
 */
export function passHatK(n: number, c: number, k: number): number {
  requireTries('passHatK', n, c, k)
  return shareOfChoices(n, c, k)
}

/** C(some, k)/C(n, k), as a product of factors from 0 to 1, because the two alone overflow. */
function shareOfChoices(n: number, some: number, k: number): number {
  let share = 1
  for (let i = 0; i < k && share > 0; i++) share *= (some - i) / (n - i)
  return share
}

function requireTries(name: string, n: number, c: number, k: number): void {
  requireCount(`${name}: n`, n, 1)
  requireCount(`${name}: c`, c, 0, n, 'n = ')
  requireCount(`${name}: k`, k, 1, n, 'n = ')
}
