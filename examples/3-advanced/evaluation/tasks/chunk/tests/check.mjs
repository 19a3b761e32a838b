import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { chunk } from './code.mjs'

test('chunk', () => {
  deepEqual(chunk([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
  deepEqual(chunk([1, 2], 2), [[1, 2]])
  deepEqual(chunk([], 3), [])
})
