import fc from 'fast-check'
import { expect, test } from 'vitest'
import { apportion, shareInput } from '../src/shares.js'

const weight = fc.oneof(fc.nat(100_000), fc.constant(0), fc.double({ min: 0, max: 1e6, noNaN: true }))
const weights = fc.array(weight, { maxLength: 30 })
const tokens = fc.record({
  input: fc.nat(1_000_000),
  cache_read: fc.nat(1_000_000),
  cache_write: fc.nat(1_000_000),
})
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

test('a whole number is split into whole numbers that add up to it', () => {
  fc.assert(
    fc.property(weights, fc.nat(3_000_000), (list, total) => {
      const parts = apportion(list, total)
      expect(parts.every((part) => Number.isSafeInteger(part) && part >= 0)).toBe(true)
      expect(sum(parts)).toBe(sum(list) === 0 ? 0 : total)
    }),
  )
})

test('no part is a whole token away from its exact share', () => {
  fc.assert(
    fc.property(weights, fc.nat(3_000_000), (list, total) => {
      const whole = sum(list)
      fc.pre(whole > 0)
      for (const [index, part] of apportion(list, total).entries())
        expect(Math.abs(part - ((list[index] ?? 0) / whole) * total)).toBeLessThan(1 + 1e-6)
    }),
  )
})

test.each([
  ['the largest remainder gets the last token', [1, 2, 2], 2, [0, 1, 1]],
  ['of equal remainders the first one does', [1, 1, 1], 1, [1, 0, 0]],
  ['nothing for what weighs nothing', [0, 5, 0], 7, [0, 7, 0]],
  ['nothing if nothing weighs anything', [0, 0], 7, [0, 0]],
  ['nothing of nothing', [], 7, []],
])('%s', (_title, list, total, parts) => {
  expect(apportion(list, total)).toEqual(parts)
})

test('the shares of a request add up to what was counted, bucket by bucket', () => {
  fc.assert(
    fc.property(weights, tokens, (list, counted) => {
      fc.pre(sum(list) > 0)
      const pieces = list.map((size, index) => ({ size, index }))
      const shares = shareInput(pieces, ({ size }) => size, counted)
      expect(shares.map(({ index }) => index)).toEqual(list.map((_, index) => index))
      expect({
        input: sum(shares.map((share) => share.new)),
        cache_read: sum(shares.map(({ read }) => read)),
        cache_write: sum(shares.map(({ written }) => written)),
      }).toEqual(counted)
      for (const { read, written, new: fresh } of shares)
        expect(Math.min(read, written, fresh)).toBeGreaterThanOrEqual(0)
    }),
  )
})

test('the beginning came from the cache, then comes what was written into it, and the tail pays in full', () => {
  fc.assert(
    fc.property(weights, tokens, (list, counted) => {
      const shares = shareInput(
        list.map((size) => ({ size })),
        ({ size }) => size,
        counted,
      )
      const line = shares.flatMap(({ read, written, new: fresh }) => [
        ...(read > 0 ? ['read'] : []),
        ...(written > 0 ? ['written'] : []),
        ...(fresh > 0 ? ['new'] : []),
      ])
      const order = ['read', 'written', 'new']
      const places = line.map((name) => order.indexOf(name))
      expect(places).toEqual([...places].sort())
    }),
  )
})

test('one piece may be partly of each', () => {
  const [share] = shareInput([{ size: 1 }], ({ size }) => size, { input: 3, cache_read: 10, cache_write: 5 })
  expect(share).toEqual({ size: 1, read: 10, written: 5, new: 3 })
})

test('of a request that nobody counted the estimates stand', () => {
  expect(shareInput([{ size: 4 }, { size: 6 }], ({ size }) => size, null)).toEqual([
    { size: 4, read: 0, written: 0, new: 4 },
    { size: 6, read: 0, written: 0, new: 6 },
  ])
})
