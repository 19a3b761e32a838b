import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { wordCount } from './code.mjs'

test('word count', () => {
  equal(wordCount('one two'), 2)
  equal(wordCount(''), 0)
  equal(wordCount(' a\n b '), 2)
})
