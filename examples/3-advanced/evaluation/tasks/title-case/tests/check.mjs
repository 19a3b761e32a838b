import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { titleCase } from './code.mjs'

test('title case', () => {
  equal(titleCase('war and peace'), 'War And Peace')
  equal(titleCase(''), '')
})
