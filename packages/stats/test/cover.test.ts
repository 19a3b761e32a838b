import { expect, test } from 'vitest'
import { clusteredMean, type Interval, rate, wilson } from '../src/index.js'
import { type Design, simulate } from './helpers.js'

const EVALUATIONS = 1000

/** How often an interval holds the truth, in percent. The seed is fixed, so it is the same number each time. */
function cover(design: Design, interval: (values: number[], tasks: number[]) => Interval): number {
  const { truth, tasks, samples } = simulate(design, EVALUATIONS, 7)
  const holding = samples
    .map((values) => interval(values, tasks))
    .filter(({ low, high }) => low <= truth && truth <= high)
  return (100 * holding.length) / EVALUATIONS
}

const designs = [0.5, 0.64, 0.9].flatMap((mean) => [0.05, 0.4].map((correlation) => ({ mean, correlation })))

test('the interval of a rate holds the truth 95 times in 100, give or take two, for 34 tasks with 5 tries each', () => {
  const covers = designs.map((design) => cover({ ...design, sizes: new Array(34).fill(5) }, rate))
  expect(Math.min(...covers)).toBeGreaterThan(93)
  expect(Math.max(...covers)).toBeLessThan(97)
})

test('taken for independent tries, they have an interval that misses it once in four', () => {
  const design = { sizes: new Array(34).fill(5), mean: 0.64, correlation: 0.4 }
  expect(cover(design, (values) => wilson(sum(values), values.length))).toBeLessThan(80)
})

test('with one try a task, a t interval of a high rate holds it less than 90 times in 100, and that of a rate does not', () => {
  const design = { mean: 0.9, correlation: 0.2, sizes: new Array(34).fill(1) }
  expect(cover(design, clusteredMean)).toBeLessThan(90)
  expect(cover(design, rate)).toBeGreaterThan(93)
})

test('tasks with 3 or 5 tries are no worse', () => {
  const sizes = [...new Array(17).fill(3), ...new Array(17).fill(5)]
  expect(cover({ sizes, mean: 0.64, correlation: 0.4 }, rate)).toBeGreaterThan(93.5)
})

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
