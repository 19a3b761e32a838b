import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { median } from './code.mjs'

test('median', () => {
  equal(median([10, 9, 1]), 9)
  equal(median([1, 2, 10, 20]), 6)
  equal(median([3]), 3)
})
