import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { clamp } from './code.mjs'

test('clamp', () => {
  equal(clamp(5, 0, 10), 5)
  equal(clamp(-1, 0, 10), 0)
  equal(clamp(11, 0, 10), 10)
})
