import fc from 'fast-check'
import { expect, test } from 'vitest'
import { betaQuantile, binomialCdf, normalCdf, normalQuantile, tCdf, tQuantile } from '../src/index.js'

const chance = fc.double({ min: 1e-12, max: 1 - 1e-12, noNaN: true })
const degrees = fc.double({ min: 1, max: 1e6, noNaN: true })
const shape = fc.double({ min: 0.1, max: 1e5, noNaN: true })

/** Equal to 1e-9 of the smaller of p and 1 − p. */
function expectSameChance(actual: number, p: number): void {
  expect(Math.abs(actual - p)).toBeLessThanOrEqual(1e-9 * Math.min(p, 1 - p) + 1e-15)
}

test('a quantile is where the distribution reaches p', () => {
  fc.assert(fc.property(chance, (p) => expectSameChance(normalCdf(normalQuantile(p)), p)))
  fc.assert(fc.property(chance, degrees, (p, df) => expectSameChance(tCdf(tQuantile(p, df), df), p)))
})

test('both tails are alike', () => {
  fc.assert(
    fc.property(fc.double({ min: -30, max: 30, noNaN: true }), degrees, (x, df) => {
      expect(normalCdf(x) + normalCdf(-x)).toBeCloseTo(1, 14)
      expect(tCdf(x, df) + tCdf(-x, df)).toBeCloseTo(1, 14)
    }),
  )
  fc.assert(
    fc.property(fc.double({ min: 0.001, max: 0.999, noNaN: true }), shape, shape, (p, a, b) => {
      expect(betaQuantile(p, a, b) + betaQuantile(1 - p, b, a)).toBeCloseTo(1, 9)
    }),
  )
})

test('more degrees of freedom make t smaller, down to the normal quantile', () => {
  const quantiles = [1, 2, 5, 33, 1000, 1e7].map((df) => tQuantile(0.975, df))
  expect(quantiles).toEqual([...quantiles].sort((a, b) => b - a))
  expect(quantiles.at(-1)).toBeCloseTo(normalQuantile(0.975), 6)
})

test('a binomial distribution adds up the chances of its counts', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, p) => {
      let term = (1 - p) ** n
      let sum = 0
      for (let k = 0; k < n && p < 0.9; k++) {
        sum += term
        expect(Math.abs(binomialCdf(k, n, p) - sum)).toBeLessThan(1e-12)
        term *= (((n - k) / (k + 1)) * p) / (1 - p)
      }
      expect(binomialCdf(n, n, p)).toBe(1)
    }),
  )
})

test('infinities are the ends of a distribution', () => {
  expect([-Infinity, Infinity].map(normalCdf)).toEqual([0, 1])
  expect([-Infinity, Infinity].map((x) => tCdf(x, 3))).toEqual([0, 1])
})

test('a quantile of ½ is exactly 0', () => {
  expect([normalQuantile(0.5), tQuantile(0.5, 7)]).toEqual([0, 0])
})
