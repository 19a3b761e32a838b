import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minimumDetectableEffect, normalQuantile, pairedDifference, requiredTasks } from '../src/index.js'
import { randomNumbers } from '../src/random.js'

test('as many tasks as an effect needs detect it, and one task fewer does not', () => {
  const sd = fc.double({ min: 0.01, max: 100, noNaN: true })
  fc.assert(
    fc.property(sd, fc.double({ min: 0.01, max: 1, noNaN: true }), (sd, share) => {
      const effect = sd * share
      const n = requiredTasks({ sd, effect })
      expect(minimumDetectableEffect({ sd, n })).toBeLessThanOrEqual(effect * (1 + 1e-9))
      if (n > 2) expect(minimumDetectableEffect({ sd, n: n - 1 })).toBeGreaterThan(effect)
    }),
  )
})

test('the two are inverse', () => {
  for (let n = 2; n < 300; n++) {
    expect(requiredTasks({ sd: 0.19, effect: minimumDetectableEffect({ sd: 0.19, n }) })).toBe(n)
  }
})

// of the noncentral t distribution, as tables of power have them
test.each([
  [0.2, 199],
  [0.25, 128],
  [0.5, 34],
  [0.8, 15],
  [1, 10],
])('an effect of %d standard deviations needs %d tasks', (effect, tasks) => {
  expect(requiredTasks({ sd: 1, effect })).toBe(tasks)
})

test.each([5, 34])('a difference that %d tasks detect is found in about 4 of 5 comparisons', (n) => {
  const sd = 0.19
  const effect = minimumDetectableEffect({ sd, n })
  const random = randomNumbers(5)
  const comparisons = Array.from({ length: 1500 }, () => {
    const none = Array.from({ length: n }, (_, task) => ({ task, value: 0 }))
    const differences = none.map(({ task }) => ({
      task,
      value: effect + sd * normalQuantile(random() + 2 ** -33),
    }))
    return pairedDifference(none, differences).p
  })
  const found = comparisons.filter((p) => p <= 0.05).length / comparisons.length
  expect(found).toBeGreaterThan(0.77)
  expect(found).toBeLessThan(0.83)
})

test('tasks that all differ alike show any effect, from two on', () => {
  expect(minimumDetectableEffect({ sd: 0, n: 34 })).toBe(0)
  expect(requiredTasks({ sd: 0, effect: 0.05 })).toBe(2)
})
