import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRedactor, REDACTED, redactFile } from '../src/index.js'
import { workspace } from './workspace.js'

const SECRET = 'correct-horse'

test('a secret is found wherever the pieces of a stream part it, and nothing is found where none is', () => {
  const redactor = createRedactor([SECRET])
  const bytes = Buffer.from(`x${SECRET}y`)
  for (let at = 0; at <= bytes.length; at++) {
    for (let next = at; next <= bytes.length; next++) {
      const pieces = [bytes.subarray(0, at), bytes.subarray(at, next), bytes.subarray(next)]
      expect(redactor.foundIn(pieces)).toBe(true)
    }
  }
  expect(redactor.foundIn([Buffer.from('correct-'), Buffer.from('-horse')])).toBe(false)
})

test('a secret between two pieces of a large file is taken out, and the file is its owner’s only', async () => {
  const { path } = await workspace()
  const file = join(path, 'large')
  const before = 'x'.repeat(1024 * 1024 - 4)
  writeFileSync(file, `${before}${SECRET} and more`, { mode: 0o666 })
  redactFile(file, createRedactor([SECRET]))
  expect(readFileSync(file, 'utf8') === `${before}${REDACTED} and more`).toBe(true)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a filter holds back a few hundred bytes at most, however much passes', () => {
  const filter = createRedactor([SECRET]).filter()
  let passed = 0
  for (let piece = 1; piece <= 100; piece++) {
    passed += filter.push(Buffer.alloc(1000, 'x')).length
    expect(passed).toBeGreaterThan(piece * 1000 - 300)
  }
  expect(passed + filter.end().length).toBe(100_000)
})

test('a redactor that only looks for what seems secret has something to do, one without anything has not', () => {
  expect(createRedactor([], { patterns: true }).active).toBe(true)
  expect(createRedactor([SECRET]).active).toBe(true)
  expect(createRedactor([]).active).toBe(false)
})
