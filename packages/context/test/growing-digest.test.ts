import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { growingDigest } from '../src/growing-digest.js'

const sha256 = (texts: readonly string[]) => createHash('sha256').update(texts.join('')).digest('hex')

test('a list that grows, shrinks or changes always has the digest of its texts', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.string({ unit: 'grapheme' })), { maxLength: 8 }), (lists) => {
      const digest = growingDigest()
      for (const list of lists) {
        expect(digest(list)).toBe(sha256(list))
        expect(digest([...list, 'and more'])).toBe(sha256([...list, 'and more']))
      }
    }),
  )
})
