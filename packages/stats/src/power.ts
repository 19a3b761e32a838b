import { requireBetween, requireCount, requireFinite } from './check.js'
import { normalQuantile } from './distributions.js'

/** What a comparison should keep: how often it may err in either direction. */
export interface PowerOptions {
  /** Standard deviation of the differences of the tasks, from an earlier comparison or a guess; at least 0. */
  sd: number
  /** How often equal variants may be called different; 0.05 by default. */
  alpha?: number
  /** How often a difference of that size is found; 0.8 by default. */
  power?: number
}

/**
 * The smallest true difference that a paired comparison of `n` tasks finds with probability `power`.
 *
 * (z_{1−α/2} + z_power) · sd/√n (two-sided normal test; Lachin 1981). With fewer than about 20 tasks it is a little too
 * small, as z is below t.
 *
 * @returns In the unit of `sd`.
 * @throws {RangeError} `sd`, `n`, `alpha` or `power` is out of its range.
 */
export function minimumDetectableEffect({ n, ...options }: PowerOptions & { n: number }): number {
  requireCount('minimumDetectableEffect: n', n, 1)
  return needed('minimumDetectableEffect', options) / Math.sqrt(n)
}

/**
 * How many tasks a paired comparison needs to find a true difference of `effect` with probability `power`.
 *
 * ((z_{1−α/2} + z_power) · sd/effect)², rounded up, at least 2: the inverse of {@link minimumDetectableEffect}.
 *
 * @throws {RangeError} `sd`, `effect`, `alpha` or `power` is out of its range.
 */
export function requiredTasks({ effect, ...options }: PowerOptions & { effect: number }): number {
  requireBetween('requiredTasks: effect', effect, 0, Infinity)
  const tasks = (needed('requiredTasks', options) / effect) ** 2
  // Rounding alone must not cost a task when the effect is just what n tasks detect.
  return Math.max(2, Math.ceil(tasks * (1 - 1e-12)))
}

/** How large a difference must be, times √n. */
function needed(name: string, { sd, alpha = 0.05, power = 0.8 }: PowerOptions): number {
  requireFinite(`${name}: sd`, sd)
  if (sd < 0) throw new RangeError(`${name}: sd must be at least 0, got ${sd}.`)
  requireBetween(`${name}: alpha`, alpha, 0, 1)
  requireBetween(`${name}: power`, power, 0, 1)
  return (normalQuantile(1 - alpha / 2) + normalQuantile(power)) * sd
}
