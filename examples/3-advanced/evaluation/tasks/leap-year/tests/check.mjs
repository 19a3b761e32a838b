import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { isLeapYear } from './code.mjs'

test('leap year', () => {
  equal(isLeapYear(2024), true)
  equal(isLeapYear(1900), false)
  equal(isLeapYear(2000), true)
})
