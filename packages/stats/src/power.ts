import { requireBetween, requireCount, requireFinite } from './check.js'
import { tQuantile } from './distributions.js'

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
 * (t_{1−α/2} + t_power) · sd/√n with n − 1 degrees of freedom (Bloom 1995), for the two-sided t test of `pairedDifference`.
 *
 * @returns In the unit of `sd`.
 * @throws {RangeError} `sd`, `n`, `alpha` or `power` is out of its range.
 */
export function minimumDetectableEffect({ n, ...options }: PowerOptions & { n: number }): number {
  requireCount('minimumDetectableEffect: n', n, 2)
  return detectable(n, required('minimumDetectableEffect', options))
}

/**
 * How many tasks a paired comparison needs to find a true difference of `effect` with probability `power`.
 *
 * The smallest number, at least 2, whose {@link minimumDetectableEffect} is not above `effect`.
 *
 * @throws {RangeError} `sd`, `effect`, `alpha` or `power` is out of its range.
 */
export function requiredTasks({ effect, ...options }: PowerOptions & { effect: number }): number {
  requireBetween('requiredTasks: effect', effect, 0, Infinity)
  const test = required('requiredTasks', options)
  // Rounding alone must not cost a task when the effect is just what n tasks detect.
  const isEnough = (n: number) => detectable(n, test) <= effect * (1 + 1e-12)
  let few = 1
  let enough = 2
  while (!isEnough(enough)) [few, enough] = [enough, 2 * enough]
  while (enough - few > 1) {
    const between = Math.floor((few + enough) / 2)
    if (isEnough(between)) enough = between
    else few = between
  }
  return enough
}

function detectable(n: number, { sd, alpha, power }: Required<PowerOptions>): number {
  return ((tQuantile(1 - alpha / 2, n - 1) + tQuantile(power, n - 1)) * sd) / Math.sqrt(n)
}

function required(name: string, { sd, alpha = 0.05, power = 0.8 }: PowerOptions): Required<PowerOptions> {
  requireFinite(`${name}: sd`, sd)
  if (sd < 0) throw new RangeError(`${name}: sd must be at least 0, got ${sd}.`)
  requireBetween(`${name}: alpha`, alpha, 0, 1)
  requireBetween(`${name}: power`, power, 0, 1)
  return { sd, alpha, power }
}
