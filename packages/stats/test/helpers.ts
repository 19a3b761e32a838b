import { betaQuantile } from '../src/index.js'
import { randomNumbers } from '../src/random.js'

/** How evaluations come out whose tasks have success probabilities of a beta distribution. */
export interface Design {
  /** Tries of each task. */
  sizes: number[]
  /** Mean of the probabilities. */
  mean: number
  /** Correlation of two tries of a task: 0, all tasks are equally hard; 1, tries of a task always end alike. */
  correlation: number
}

/** Evaluations of one design, each with the tasks drawn anew, and the true rate that they estimate. */
export function simulate({ sizes, mean, correlation }: Design, evaluations: number, seed: number) {
  const shape = 1 / correlation - 1
  const chances = Array.from({ length: 1000 }, (_, i) =>
    betaQuantile((i + 0.5) / 1000, mean * shape, (1 - mean) * shape),
  )
  const random = randomNumbers(seed)
  const tasks = sizes.flatMap((size, task) => new Array<number>(size).fill(task))
  const samples = Array.from({ length: evaluations }, () =>
    sizes.flatMap((size) => {
      const chance = chances[Math.floor(random() * 1000)] ?? 0
      return Array.from({ length: size }, () => (random() < chance ? 1 : 0))
    }),
  )
  return { truth: meanOf(chances), tasks, samples }
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
