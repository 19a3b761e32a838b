import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeText, oneLine, pieces } from '../web/text/marks.js'

test('control characters are written as a terminal writes them', () => {
  expect(escapeText('a\0b\x1b[2Jc\x7f\rd')).toBe('a^@b^[[2Jc^?^Md')
})

test('newlines and tabs stay', () => {
  expect(escapeText('a\n\tb')).toBe('a\n\tb')
})

test('marks that turn the direction of a text are shown, and turn nothing', () => {
  expect(escapeText('safe\u202Egpj.exe\u2066')).toBe('safe‹U+202E›gpj.exe‹U+2066›')
})

test('spaces without width, tag characters and halves of surrogate pairs are shown', () => {
  expect(escapeText('a\u200Bb\u{E0041}c\uD800d\uFEFF')).toBe('a‹U+200B›b‹U+E0041›c‹U+D800›d‹U+FEFF›')
})

test('emoji that are joined, and letters with marks, stay as they are', () => {
  const text = 'e\u0301 👩‍👩‍👧 क्ष'
  expect(pieces(text)).toEqual([{ text }])
})

test('a mark has the name of its character', () => {
  expect(pieces('a\x07')).toEqual([{ text: 'a' }, { mark: '^G', name: 'U+0007' }])
})

test('on one line, white space is one space', () => {
  expect(oneLine('  a \n\t b\r\n')).toBe('a b')
})

test('whatever a text holds, what is shown of it holds nothing that cannot be seen', () => {
  const unit = fc.oneof(
    fc.constantFrom('\x1b', '\u202E', '\u2028', 'a', '<', '\x9b'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  )
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      expect(escapeText(text)).not.toMatch(
        /[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]/,
      )
    }),
  )
})
