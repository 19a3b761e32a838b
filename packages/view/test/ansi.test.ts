import fc from 'fast-check'
import { expect, test } from 'vitest'
import { styled } from '../web/text/ansi.js'

test('colours and weights become styles, and end where they are reset', () => {
  expect(styled('a \x1b[1;31mb\x1b[0m c')).toEqual([
    { text: 'a ' },
    { text: 'b', bold: true, color: 1 },
    { text: ' c' },
  ])
})

test.each([
  ['\x1b[32mx', { color: 2 }],
  ['\x1b[96mx', { color: 6 }],
  ['\x1b[90mx', { dim: true }],
  ['\x1b[37mx', {}],
  ['\x1b[38;5;9mx', { color: 1 }],
  ['\x1b[38;5;46mx', { color: 2 }],
  ['\x1b[38;5;244mx', {}],
  ['\x1b[38;2;20;40;250mx', { color: 4 }],
  ['\x1b[48;5;196mx', {}],
  ['\x1b[41mx', {}],
  ['\x1b[31m\x1b[39mx', {}],
  ['\x1b[1m\x1b[2m\x1b[22mx', {}],
  ['\x1b[3;4mx', { italic: true, underline: true }],
  ['\x1b[mx', {}],
])('%j has the style %o', (output, style) => {
  expect(styled(output)).toEqual([{ text: 'x', ...style }])
})

test('other escape sequences stay in the text, to be shown as marks', () => {
  expect(styled('\x1b[2J\x1b]8;;http://a\x07b')).toEqual([{ text: '\x1b[2J\x1b]8;;http://a\x07b' }])
})

test('whatever was printed, only colours are taken out of it', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('\x1b', '[', '3', '1', ';', 'm', 'K', 'a', '\n') }),
      (output) => {
        const text = styled(output)
          .map((piece) => piece.text)
          .join('')
        expect(text).toBe(output.replace(/\x1b\[[\d;:]*m/g, ''))
      },
    ),
  )
})
