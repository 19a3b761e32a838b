import fc from 'fast-check'
import { expect, test } from 'vitest'
import { holm, tiedSets } from '../src/index.js'

test('adjusted p are never smaller, at most 1, and in the same order', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (p) => {
      const adjusted = holm(p)
      expect(adjusted).toHaveLength(p.length)
      for (const [i, a] of p.entries()) {
        expect(adjusted[i]).toBeGreaterThanOrEqual(a)
        expect(adjusted[i]).toBeLessThanOrEqual(1)
        for (const [j, b] of p.entries()) if (a < b) expect(adjusted[i]).toBeLessThanOrEqual(adjusted[j] ?? 0)
      }
    }),
  )
})

test('of equal variants, five in a hundred tables have a finding, however many comparisons they hold', () => {
  // Ten independent comparisons of nothing: without Holm, 1 − 0.95^10 = 40 of 100 tables have one.
  let state = 1
  const uniform = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  const tables = Array.from({ length: 4000 }, () => Array.from({ length: 10 }, uniform))
  const share = (find: (p: number[]) => number[]) =>
    tables.filter((p) => find(p).some((value) => value <= 0.05)).length / tables.length
  expect(share((p) => p)).toBeGreaterThan(0.35)
  expect(share(holm)).toBeLessThan(0.06)
})

test('variants that no pair tells apart are one set', () => {
  const p = [
    [1, 0.4, 0.001],
    [0.4, 1, 0.2],
    [0.001, 0.2, 1],
  ]
  expect(tiedSets(['a', 'b', 'c'], p)).toEqual([
    ['a', 'b'],
    ['b', 'c'],
  ])
  expect(tiedSets(['a', 'b', 'c'], p, 0.3)).toEqual([['a', 'b']])
  expect(tiedSets(['a', 'b', 'c'], p, 0.0001)).toEqual([['a', 'b', 'c']])
  expect(tiedSets(['a'], [[1]])).toEqual([])
  expect(tiedSets([], [])).toEqual([])
})

test('a p that is just alpha tells apart', () => {
  const p = [
    [1, 0.05],
    [0.05, 1],
  ]
  expect(tiedSets(['a', 'b'], p, 0.05)).toEqual([])
})

/** A random table of p for up to seven names. */
const tables = fc
  .integer({ min: 0, max: 7 })
  .chain((size) =>
    fc
      .array(fc.constantFrom(0.01, 0.5), { minLength: size * size, maxLength: size * size })
      .map((values) =>
        Array.from({ length: size }, (_, i) =>
          Array.from({ length: size }, (_, j) => values[Math.min(i, j) * size + Math.max(i, j)] ?? 1),
        ),
      ),
  )

test('the sets are all those of at least two that cannot be larger', () => {
  fc.assert(
    fc.property(tables, (p) => {
      const names = p.map((_, index) => String.fromCharCode(97 + index))
      const subsets = Array.from({ length: 2 ** names.length }, (_, mask) =>
        [...names.keys()].filter((index) => mask & (1 << index)),
      )
      const isTied = (set: number[]) => set.every((i) => set.every((j) => i === j || (p[i]?.[j] ?? 0) > 0.05))
      const tied = subsets.filter(isTied)
      const largest = tied.filter(
        (set) =>
          set.length > 1 &&
          !tied.some((other) => other.length > set.length && set.every((i) => other.includes(i))),
      )
      const expected = largest.map((set) => set.map((index) => names[index]).join(''))
      expect(tiedSets(names, p).map((set) => set.join(''))).toEqual(expected.sort())
    }),
  )
})

test('sixty variants that are all tied are one set, at once', () => {
  const names = Array.from({ length: 60 }, (_, index) => `v${index}`)
  expect(
    tiedSets(
      names,
      names.map(() => names.map(() => 1)),
    ),
  ).toEqual([names])
})
