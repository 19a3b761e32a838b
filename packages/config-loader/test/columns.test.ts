import { expect, test } from 'vitest'
import { columnsOf } from '../src/internal.js'

test('the width of a text on a terminal counts what a person sees as one character once, and a wide one twice', () => {
  const widths = {
    'plain words': 11,
    é: 1,
    'e\u0301': 1,
    日本語: 6,
    ｆｕｌｌ: 8,
    한국: 4,
    '👨‍👩‍👧': 2,
    '🇩🇪': 2,
    '❤\ufe0f': 2,
    '☺': 1,
    '\u200b': 0,
  }
  const texts = Object.keys(widths)
  expect(Object.fromEntries(texts.map((text) => [text, columnsOf(text)]))).toEqual(widths)
})
