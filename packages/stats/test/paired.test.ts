import fc from 'fast-check'
import { expect, test } from 'vitest'
import { mcnemarExact, pairedDifference, signFlip, type TaskValue } from '../src/index.js'

const values = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 2, maxLength: 14 })
const scored = (list: readonly number[]): TaskValue[] => list.map((value, task) => ({ task, value }))

test('the difference is second minus first, over the tasks that both have, each once', () => {
  const first = [
    { task: 'sort', value: 0 },
    { task: 'sort', value: 1 },
    { task: 'parse', value: 0 },
    { task: 'only first', value: 1 },
  ]
  const second = [
    { task: 'parse', value: 1 },
    { task: 'sort', value: 1 },
    { task: 'only second', value: 0 },
  ]
  const { estimate, tasks, differences } = pairedDifference(first, second)
  expect({ estimate, tasks, differences }).toEqual({
    estimate: 0.75,
    tasks: ['sort', 'parse'],
    differences: [0.5, 1],
  })
})

test('the other way round everything has the other sign, and p is the same', () => {
  fc.assert(
    fc.property(values, (list) => {
      const zeros = scored(list.map(() => 0))
      const one = pairedDifference(zeros, scored(list))
      const other = pairedDifference(scored(list), zeros)
      expect(other.estimate).toBeCloseTo(-one.estimate, 9)
      expect(other.low).toBeCloseTo(-one.high, 9)
      expect(other.p).toBeCloseTo(one.p, 9)
      expect(signFlip(other.differences)).toEqual(signFlip(one.differences))
    }),
  )
})

test('p is below 0.05 exactly when the 95 % interval leaves 0 out', () => {
  fc.assert(
    fc.property(values, (list) => {
      const { low, high, p } = pairedDifference(scored(list.map(() => 0)), scored(list))
      if (Math.abs(p - 0.05) > 1e-9) expect(p < 0.05).toBe(low > 0 || high < 0)
    }),
  )
})

test('equal differences are an interval without width', () => {
  const zeros = scored([0, 0, 0])
  expect(pairedDifference(zeros, scored([1, 1, 1]))).toMatchObject({
    estimate: 1,
    se: 0,
    low: 1,
    high: 1,
    p: 0,
  })
  expect(pairedDifference(zeros, zeros)).toMatchObject({ estimate: 0, se: 0, low: 0, high: 0, p: 1 })
})

test('sign flips ask how many of all sign changes lie as far from 0', () => {
  expect(signFlip([1, 1, 1])).toEqual({ p: 2 / 8, exact: true })
  expect(signFlip([1, 1, -1])).toEqual({ p: 1, exact: true })
  expect(signFlip([0, 0, 4])).toEqual({ p: 1, exact: true })
  expect(signFlip([0, 0])).toEqual({ p: 1, exact: true })
})

test('sums that only rounding tells apart are equal', () => {
  // 0.1 + 0.2 is not 0.3 in floating point; in tenths the eight sums are 6, 4, 2, 0 and their opposites.
  expect(signFlip([0.1, 0.2, 0.3])).toEqual({ p: 2 / 8, exact: true })
  expect(signFlip([0.1, 0.2, -0.3])).toEqual({ p: 1, exact: true })
})

test('sign flips agree with the t test where differences are many and plain', () => {
  const differences = Array.from({ length: 20 }, (_, i) => Math.sin(i * i) + 0.3)
  const { p } = pairedDifference(scored(differences.map(() => 0)), scored(differences))
  expect(signFlip(differences).p).toBeCloseTo(p, 2)
})

test('above 20 differences a seed determines the p, which is never 0', () => {
  const differences = Array.from({ length: 34 }, (_, i) => (i % 5) - 1)
  expect(signFlip(differences, { seed: 3 })).toEqual(signFlip(differences, { seed: 3 }))
  expect(signFlip(differences, { seed: 3 })).not.toEqual(signFlip(differences, { seed: 4 }))
  expect(signFlip(new Array(34).fill(1), { draws: 999 })).toEqual({ p: 1 / 1000, exact: false })
})

test('of 0/1 scores with one try a task, sign flips are the exact test of McNemar', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }), (b, c) => {
      const differences = [0, ...new Array(b).fill(-1), ...new Array(c).fill(1)]
      expect(mcnemarExact(b, c)).toBeCloseTo(signFlip(differences).p, 12)
      expect(mcnemarExact(b, c)).toBe(mcnemarExact(c, b))
    }),
  )
})
