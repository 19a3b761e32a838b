import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clopperPearson, newcombe, wilson } from '../src/index.js'

/** Successes and tries. */
const table = fc
  .integer({ min: 1, max: 100_000 })
  .chain((n) => fc.tuple(fc.integer({ min: 0, max: n }), fc.constant(n)))
const confidence = fc.double({ min: 0.01, max: 0.999999, noNaN: true })

test.each([wilson, clopperPearson])(
  '%o: the interval holds the estimate and stays from 0 to 1',
  (interval) => {
    fc.assert(
      fc.property(table, confidence, ([k, n], confidence) => {
        const { estimate, low, high } = interval(k, n, { confidence })
        expect(low).toBeLessThanOrEqual(estimate)
        expect(estimate).toBeLessThanOrEqual(high)
        expect(low).toBeGreaterThanOrEqual(0)
        expect(high).toBeLessThanOrEqual(1)
      }),
    )
  },
)

test.each([wilson, clopperPearson])('%o: failures have the mirrored interval of successes', (interval) => {
  fc.assert(
    fc.property(table, ([k, n]) => {
      const successes = interval(k, n)
      const failures = interval(n - k, n)
      expect(failures.low).toBeCloseTo(1 - successes.high, 12)
      expect(failures.high).toBeCloseTo(1 - successes.low, 12)
    }),
  )
})

test.each([wilson, clopperPearson])('%o: one more success moves both ends up', (interval) => {
  for (let k = 0; k < 34; k++) {
    expect(interval(k + 1, 34).low).toBeGreaterThan(interval(k, 34).low)
    expect(interval(k + 1, 34).high).toBeGreaterThan(interval(k, 34).high)
  }
})

test.each([wilson, clopperPearson])(
  '%o: more confidence is a wider interval, more tries a narrower one',
  (interval) => {
    const width = (k: number, n: number, confidence: number) => {
      const { low, high } = interval(k, n, { confidence })
      return high - low
    }
    expect(width(20, 34, 0.99)).toBeGreaterThan(width(20, 34, 0.9))
    expect(width(20, 34, 0.9)).toBeGreaterThan(width(200, 340, 0.9))
  },
)

test.each([wilson, clopperPearson])(
  '%o: with no success the low end is 0, with nothing else the high end is 1',
  (interval) => {
    expect(interval(0, 34).low).toBe(0)
    expect(interval(0, 34).high).toBeGreaterThan(0.05)
    expect(interval(34, 34).high).toBe(1)
  },
)

test('the interval of Clopper and Pearson holds the truth at least as often as it says, for every truth', () => {
  const n = 20
  const intervals = Array.from({ length: n + 1 }, (_, k) => clopperPearson(k, n))
  for (let truth = 0.01; truth < 1; truth += 0.01) {
    let chance = (1 - truth) ** n
    let cover = 0
    for (const [k, { low, high }] of intervals.entries()) {
      if (low <= truth && truth <= high) cover += chance
      chance *= ((n - k) / (k + 1)) * (truth / (1 - truth))
    }
    expect(cover).toBeGreaterThanOrEqual(0.95)
  }
})

test("Newcombe's own examples come out as in his paper", () => {
  // Statistics in Medicine 17 (1998), table II, method 10; its differences are first minus second.
  const examples = [
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [6, 7, 2, 7, 0.0582, 0.8062],
    [5, 56, 0, 29, -0.0381, 0.1926],
    [0, 10, 0, 20, -0.1611, 0.2775],
    [0, 10, 0, 10, -0.2775, 0.2775],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ] as const
  for (const [k1, n1, k2, n2, low, high] of examples) {
    const found = newcombe(k2, n2, k1, n1)
    expect([found.low.toFixed(4), found.high.toFixed(4)]).toEqual([low.toFixed(4), high.toFixed(4)])
  }
})

test('a difference the other way round has the mirrored interval', () => {
  fc.assert(
    fc.property(table, table, ([k1, n1], [k2, n2]) => {
      const one = newcombe(k1, n1, k2, n2)
      const other = newcombe(k2, n2, k1, n1)
      expect(other.estimate).toBeCloseTo(-one.estimate, 12)
      expect(other.low).toBeCloseTo(-one.high, 12)
      expect(one.low).toBeLessThanOrEqual(one.estimate)
      expect(one.high).toBeLessThanOrEqual(1 + 1e-12)
    }),
  )
})
