import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { quoteCommand, quoteForPerson } from '../src/index.js'
import { showControls } from '../src/internal.js'

describe('A quoted command', () => {
  test('is as plain as it can be', () => {
    expect(quoteCommand(['grep', '-n', 'a b', './x.txt', '', "it's", '*'])).toBe(
      `grep -n 'a b' ./x.txt '' "it's" \\*`,
    )
    expect(quoteCommand(['A=b', 'A=b'])).toBe('A\\=b A=b')
  })

  test('means the same argv to a shell', () => {
    const word = fc.string({
      unit: fc.constantFrom(...'a \'"$`\\\n\t\r*?~!#é-=:,;&|<>(){}[]^%@'),
    })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const printed = execFileSync('sh', ['-c', quoteCommand(['printf', '%s\\0', ...words])], {
          encoding: 'utf8',
        })
        expect(printed.split('\0').slice(0, -1)).toEqual(words)
      }),
      { numRuns: 50 },
    )
  })
})

describe('A command that a person has to judge', () => {
  test('is quoted as any other while all of it can be seen', () => {
    expect(quoteForPerson(['rm', '-rf', 'a b', "it's", 'A=b'])).toBe(`rm -rf 'a b' "it's" A=b`)
  })

  test('has one line, shows what is invisible, and means the same argv to a shell', () => {
    const unseen = ['\n', '\t', '\r', '\u001b', '\u0085', '\u202e', '\u200b', '\u2028', '\u{e0041}']
    const blank = ['\u00a0', '\u2800', '\u3164', '\ufe0f']
    const word = fc.string({ unit: fc.constantFrom(..."a7 '\\$", ...unseen, ...blank) })
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 4 }), (words) => {
        const line = quoteForPerson(['printf', '%s\\0', ...words])
        expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u00a0\u2800\u3164]|\ufe0f/u)
        expect(execFileSync('bash', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1)).toEqual(
          words,
        )
      }),
      { numRuns: 50 },
    )
  })

  test('keeps the lines of words that its reader wrote', () => {
    expect(quoteForPerson(['sh', '-c', 'a\nb', 'a\nc'], ['sh', '-c', 'a\nb'])).toBe(`sh -c 'a\nb' $'a\\nc'`)
  })
})

test('control characters and changes of direction are made visible; tabs, line ends and other writing stay', () => {
  expect(showControls('\x1b[31m\x07 50%\r100%\x9b \u202e\u2066')).toBe(
    '\\x1b[31m\\x07 50%\\x0d100%\\x9b \\u{202e}\\u{2066}',
  )
  expect(showControls('a\tb\r\nc\n«é»\u202f🙂')).toBe('a\tb\r\nc\n«é»\u202f🙂')
})
