import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHeights, visibleRows } from '../web/heights.js'

test('rows that were not measured have the guessed height', () => {
  const heights = createHeights(100_000, 64)
  expect(heights.total).toBe(6_400_000)
  expect(heights.top(50_000)).toBe(3_200_000)
  expect(heights.at(3_200_000)).toBe(50_000)
})

test('measuring a row moves those below it, and says by how much', () => {
  const heights = createHeights(10, 20)
  expect(heights.measure(3, 50)).toBe(30)
  expect(heights.measure(3, 50)).toBe(0)
  expect([heights.top(3), heights.top(4), heights.total]).toEqual([60, 110, 230])
  expect([heights.at(109), heights.at(110)]).toEqual([3, 4])
})

test('a list that grows keeps what was measured', () => {
  const heights = createHeights(2, 20)
  heights.measure(1, 90)
  heights.resize(500)
  expect([heights.count, heights.total]).toEqual([500, 20 + 90 + 498 * 20])
})

test('a list that shrank and grew again guesses anew', () => {
  const heights = createHeights(3, 20)
  heights.measure(2, 90)
  heights.resize(2)
  expect(heights.total).toBe(40)
  heights.resize(3)
  expect(heights.total).toBe(60)
})

test('of any heights, sums and places are those of adding up one by one', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 60 }),
      fc.nat({ max: 12_000 }),
      (measured, offset) => {
        const heights = createHeights(measured.length, 64)
        for (const [index, height] of measured.entries()) heights.measure(index, height)
        const tops = measured.map((_, index) => measured.slice(0, index).reduce((sum, each) => sum + each, 0))
        expect(tops.map((_, index) => heights.top(index))).toEqual(tops)
        const under = measured.findIndex((height, index) => (tops[index] ?? 0) + height > offset)
        expect(heights.at(offset)).toBe(under === -1 ? measured.length - 1 : under)
      },
    ),
  )
})

test('in the document are the rows in view and half a screen on both sides', () => {
  const heights = createHeights(1000, 20)
  expect(visibleRows(heights, 10_000, 800)).toEqual({ from: 480, to: 561 })
  expect(visibleRows(heights, 0, 800)).toEqual({ from: 0, to: 61 })
  expect(visibleRows(createHeights(0, 20), 0, 800)).toEqual({ from: 0, to: 0 })
})
