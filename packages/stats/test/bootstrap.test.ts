import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bootstrap, clusteredMean, quantile } from '../src/index.js'
import { meanOf } from './helpers.js'

const numbers = fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 50 })

test('quantiles rise from the smallest value to the largest', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const at = [0, 0.1, 0.5, 0.77, 1].map((q) => quantile(values, q))
      expect(at).toEqual([...at].sort((a, b) => a - b))
      expect([at[0], at[4]]).toEqual([Math.min(...values), Math.max(...values)])
    }),
  )
})

test('values are not sorted in place', () => {
  const values = [3, 1, 2]
  expect([quantile(values, 0.5), values]).toEqual([2, [3, 1, 2]])
})

test('the same seed draws the same samples', () => {
  const values = Array.from({ length: 40 }, (_, i) => Math.sin(i))
  const draw = (seed: number) => bootstrap(values, meanOf, { seed, draws: 200 })
  expect(draw(1)).toEqual(draw(1))
  expect(draw(1)).not.toEqual(draw(2))
  expect(draw(1).estimate).toBe(meanOf(values))
})

test('whole tasks are drawn, so repeats do not make the interval narrower', () => {
  const scores = Array.from({ length: 60 }, (_, task) => Math.sin(task * task))
  const repeated = scores.flatMap((score) => [score, score, score, score])
  const tasks = scores.flatMap((_, task) => [task, task, task, task])
  const { low, high } = bootstrap(repeated, meanOf, { clusters: tasks })
  const independent = bootstrap(repeated, meanOf)
  const byFormula = clusteredMean(repeated, tasks)
  expect((high - low) / (independent.high - independent.low)).toBeCloseTo(2, 1)
  expect((high - low) / (byFormula.high - byFormula.low)).toBeCloseTo(1, 1)
})

test('a sample has as many tasks as there are, and each of them whole', () => {
  const values = ['a1', 'a2', 'b1', 'c1', 'c2', 'c3']
  const clusters = values.map((value) => value.slice(0, 1))
  const whole = { a: 'a1a2', b: 'b1', c: 'c1c2c3' }
  bootstrap(
    values,
    (sample) => {
      const parts = sample.join('').match(/a1a2|b1|c1c2c3/g) ?? []
      expect(parts.join('')).toBe(sample.join(''))
      expect(parts).toHaveLength(3)
      return 0
    },
    { clusters, draws: 50 },
  )
  expect(Object.values(whole).join('')).toBe(values.join(''))
})

test('any figure of the sample has an interval: a median, a cost per success', () => {
  const runs = Array.from({ length: 40 }, (_, i) => ({ cost: 1 + (i % 7), won: i % 3 === 0 }))
  const { estimate, low, high } = bootstrap(runs, (sample) => {
    const cost = sample.reduce((sum, run) => sum + run.cost, 0)
    return cost / sample.filter((run) => run.won).length
  })
  expect(low).toBeLessThan(estimate)
  expect(high).toBeGreaterThan(estimate)
})
