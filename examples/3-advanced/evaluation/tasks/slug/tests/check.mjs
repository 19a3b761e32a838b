import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { slug } from './code.mjs'

test('slug', () => {
  equal(slug('Hello World'), 'hello-world')
  equal(slug(' One  two three '), 'one-two-three')
})
