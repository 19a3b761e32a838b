import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clusteredMean, rate, wilson } from '../src/index.js'
import { meanOf } from './helpers.js'

const tasks = (sizes: number[]) => sizes.flatMap((size, task) => new Array<string>(size).fill(`task ${task}`))

/** Values of at least two tasks, with the task of each. */
const clustered = (value: fc.Arbitrary<number>) =>
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 9 }), value), { minLength: 2, maxLength: 60 })
    .filter((pairs) => new Set(pairs.map(([task]) => task)).size > 1)
    .map((pairs) => ({ values: pairs.map(([, value]) => value), tasks: pairs.map(([task]) => task) }))
const scores = clustered(fc.double({ min: -1000, max: 1000, noNaN: true }))
const hits = clustered(fc.integer({ min: 0, max: 1 }))

test('both intervals hold the estimate, which is the mean of all values', () => {
  fc.assert(
    fc.property(scores, ({ values, tasks }) => {
      const { estimate, low, high, se } = clusteredMean(values, tasks)
      expect(estimate).toBeCloseTo(meanOf(values), 9)
      expect(low).toBeLessThanOrEqual(estimate)
      expect(high).toBeGreaterThanOrEqual(estimate)
      expect(high - estimate).toBeCloseTo(estimate - low, 9)
      expect(se).toBeGreaterThanOrEqual(0)
    }),
  )
  fc.assert(
    fc.property(hits, ({ values, tasks }) => {
      const { estimate, low, high } = rate(values, tasks)
      expect(estimate).toBe(meanOf(values))
      expect([low >= 0, low <= estimate, estimate <= high, high <= 1]).toEqual([true, true, true, true])
    }),
  )
})

test('the order of the values and the names of the tasks do not matter', () => {
  fc.assert(
    fc.property(hits, ({ values, tasks }) => {
      const backwards = rate(values.toReversed(), tasks.map((task) => `t${task}`).toReversed())
      const forwards = rate(values, tasks)
      expect(backwards.low).toBeCloseTo(forwards.low, 12)
      expect(backwards.high).toBeCloseTo(forwards.high, 12)
    }),
  )
})

test('failures have the mirrored interval of successes', () => {
  fc.assert(
    fc.property(hits, ({ values, tasks }) => {
      const successes = rate(values, tasks)
      const failures = rate(
        values.map((value) => 1 - value),
        tasks,
      )
      expect(failures.low).toBeCloseTo(1 - successes.high, 9)
      expect(failures.high).toBeCloseTo(1 - successes.low, 9)
    }),
  )
})

test('a mean follows the unit of its values', () => {
  fc.assert(
    fc.property(scores, ({ values, tasks }) => {
      const inHalves = clusteredMean(
        values.map((value) => 2 * value + 5),
        tasks,
      )
      const { low, se } = clusteredMean(values, tasks)
      expect(inHalves.low).toBeCloseTo(2 * low + 5, 6)
      expect(inHalves.se).toBeCloseTo(2 * se, 6)
    }),
  )
})

test('repeating every value makes no interval narrower: it is no new evidence', () => {
  const values = [0.2, 0.9, 0.4, 0.4, 1]
  const names = tasks([1, 1, 1, 1, 1])
  expect(clusteredMean([...values, ...values], [...names, ...names]).se).toBeCloseTo(
    clusteredMean(values, names).se,
    12,
  )
  const wins = [1, 0, 1, 1, 0]
  const repeated = rate([...wins, ...wins, ...wins], [...names, ...names, ...names])
  const once = wilson(3, 5)
  expect(repeated.low).toBeLessThan(once.low)
  expect(repeated.high).toBeGreaterThan(once.high)
})

test('a rate with one value a task is that of Wilson, also for a single value', () => {
  expect(rate([1, 0, 1], ['a', 'b', 'c'])).toEqual({ ...wilson(2, 3), n: 3, clusters: 3 })
  expect(rate([1], ['a'])).toEqual({ ...wilson(1, 1), n: 1, clusters: 1 })
})

test('170 successes of 34 tasks are worth 34', () => {
  const { estimate, low, high, n, clusters } = rate(new Array(170).fill(1), tasks(new Array(34).fill(5)))
  expect([estimate, low.toFixed(3), high, n, clusters]).toEqual([1, '0.891', 1, 170, 34])
})

test('where every task succeeds half of the time, each try counts', () => {
  const { low, high } = rate(new Array(40).fill([0, 1]).flat(), tasks(new Array(40).fill(2)))
  const independent = wilson(40, 80)
  // The tasks do not vary, so the 80 tries are worth 80; t with 39 degrees of freedom is a little above z.
  expect(low).toBeGreaterThan(independent.low - 0.004)
  expect(high).toBeLessThan(independent.high + 0.004)
})

test('where one task has most of the tries, the others do not make up for it', () => {
  const sizes = [90, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
  const lopsided = rate(new Array(100).fill(1), tasks(sizes))
  // 100²/(90² + 10) is 1.2 independent tries.
  expect(lopsided.low).toBeLessThan(0.25)
})

test('equal values have no spread, and the interval of their mean is a point', () => {
  const { estimate, se, low, high, df } = clusteredMean([0.5, 0.5, 0.5, 0.5], ['a', 'a', 'b', 'b'])
  expect({ estimate, se, low, high, df }).toEqual({ estimate: 0.5, se: 0, low: 0.5, high: 0.5, df: 1 })
})
