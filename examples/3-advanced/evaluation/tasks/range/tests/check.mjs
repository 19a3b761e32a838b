import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { range } from './code.mjs'

test('range', () => {
  deepEqual(range(1, 3), [1, 2, 3])
  deepEqual(range(5, 5), [5])
})
