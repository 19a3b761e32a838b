import fc from 'fast-check'
import { expect, test } from 'vitest'
import { passAtK, passHatK } from '../src/index.js'

/** All choices of k of n things, as bit masks. */
function choices(n: number, k: number): number[] {
  const masks = Array.from({ length: 2 ** n }, (_, mask) => mask)
  return masks.filter((mask) => [...mask.toString(2)].filter((bit) => bit === '1').length === k)
}

test('both are shares of all choices of k tries', () => {
  for (let n = 1; n <= 8; n++) {
    for (let c = 0; c <= n; c++) {
      for (let k = 1; k <= n; k++) {
        const all = choices(n, k)
        const successes = 2 ** c - 1 // the first c tries
        const some = all.filter((chosen) => (chosen & successes) !== 0)
        const only = all.filter((chosen) => (chosen & ~successes) === 0)
        expect(passAtK(n, c, k)).toBeCloseTo(some.length / all.length, 14)
        expect(passHatK(n, c, k)).toBeCloseTo(only.length / all.length, 14)
      }
    }
  }
})

test('of one try, both are the rate', () => {
  expect([passAtK(5, 3, 1), passHatK(5, 3, 1)]).toEqual([0.6, 0.6])
})

test('more tries raise pass@k and lower pass^k', () => {
  const tries = fc
    .integer({ min: 2, max: 60 })
    .chain((n) => fc.tuple(fc.constant(n), fc.integer({ min: 0, max: n })))
  fc.assert(
    fc.property(tries, ([n, c]) => {
      for (let k = 1; k < n; k++) {
        expect(passAtK(n, c, k + 1)).toBeGreaterThanOrEqual(passAtK(n, c, k) - 1e-12)
        expect(passHatK(n, c, k + 1)).toBeLessThanOrEqual(passHatK(n, c, k) + 1e-12)
        expect(passHatK(n, c, k)).toBeLessThanOrEqual(passAtK(n, c, k) + 1e-12)
      }
    }),
  )
})

test('the chance that none succeeds is pass^k of the failures', () => {
  expect(passAtK(200, 13, 10)).toBeCloseTo(1 - passHatK(200, 187, 10), 14)
})

test('numbers of tries whose binomials overflow are no problem', () => {
  expect(passAtK(100_000, 1, 50_000)).toBeCloseTo(0.5, 9)
  expect(passHatK(100_000, 99_999, 50_000)).toBeCloseTo(0.5, 9)
})
