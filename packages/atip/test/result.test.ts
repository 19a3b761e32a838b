import { describe, expect, test } from 'vitest'
import { createResultFilter, DEFAULT_REDACT_PATTERNS } from '../src/index.js'
import { box } from './helpers.js'

const filter = (text: string, options = {}) => createResultFilter([], options).filter(text, 'box_run')
const letters = (length: number) => 'abcdefghij1234567890'.repeat(Math.ceil(length / 20)).slice(0, length)

describe('secrets', () => {
  test('those of common services and those that a name announces are redacted', () => {
    expect(filter(`ghp_${letters(36)} and password=hunter2`)).toBe('[REDACTED] and password=[REDACTED]')
    const each = (text: string) => DEFAULT_REDACT_PATTERNS.reduce((rest, one) => rest.replace(one, '-'), text)
    expect(each(`glpat-${letters(20)} and password=hunter2`)).toBe('- and password=-')
  })

  test.each([
    ['API_KEY: sk-1234', 'API_KEY: [REDACTED]'],
    ['{"token": "a b c", "user": "ada"}', '{"token": "[REDACTED]", "user": "ada"}'],
    ["secret = 'two words'", "secret = '[REDACTED]'"],
    ['postgres://ada:pass@db/x', 'postgres://ada:[REDACTED]@db/x'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: [REDACTED]'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: [REDACTED]'],
  ])('the value in %j is redacted and its name stays', (text, redacted) => {
    expect(filter(text)).toBe(redacted)
  })

  test.each(['Basic information', 'the bearer of news', 'a token of thanks', 'tokens: 5'])(
    '%j is no secret',
    (text) => {
      expect(filter(text)).toBe(text)
    },
  )

  test('one is redacted before the text is cut, so half of it never leaks', () => {
    const text = `${'x'.repeat(80)} ghp_${letters(36)}`
    expect(filter(text, { maxLength: 100 })).not.toContain('ghp_')
  })

  test('a variable a tool declares for its key is redacted', () => {
    const tool = box({}, { authentication: { methods: [{ type: 'token', envVar: 'BOX_PASS' }] } })
    expect(createResultFilter([tool]).filter('BOX_PASS=open-sesame', 'box_run')).toBe('BOX_PASS=[REDACTED]')
  })

  test('own patterns need no flag "g", and work when the built-in ones are off', () => {
    expect(filter('id-1 id-2 token=t', { redactPatterns: [/id-\d/], redactSecrets: false })).toBe(
      '[REDACTED] [REDACTED] token=t',
    )
  })

  test.each([
    ['letters', letters(50_000)],
    ['key names', 'password '.repeat(5_500)],
    ['white space', `Bearer${' '.repeat(50_000)}`],
  ])('twelve times as many %s take about twelve times as long', (_name, text) => {
    const used = (input: string) => Math.min(...Array.from({ length: 5 }, () => measure(input)))
    // A quadratic pattern would take 144 times as long.
    expect(used(text.repeat(12)) / used(text)).toBeLessThan(50)
  })
})

test.each(['Bearer ', 'Basic A', 'password='])(
  '%s and ten million letters are one secret, and do not overflow the stack',
  (start) => {
    expect(filter(`${start}${letters(10_000_000)}`).length).toBeLessThan(30)
  },
)

describe('length', () => {
  test('the marker counts', () => {
    const result = filter('a'.repeat(200), { maxLength: 100 })
    expect(result).toBe(`${'a'.repeat(88)}\n[TRUNCATED]`)
    expect(result).toHaveLength(100)
  })

  test('100000 characters pass, one more does not', () => {
    expect(filter('a'.repeat(100_000))).toHaveLength(100_000)
    expect(filter('a'.repeat(100_001))).toMatch(/\[TRUNCATED\]$/)
  })

  test('a cut never halves an emoji', () => {
    expect(filter('🙂'.repeat(60), { maxLength: 51 })).toBe(`${'🙂'.repeat(19)}\n[TRUNCATED]`)
  })
})

/** CPU time, which other processes do not lengthen. */
function measure(text: string): number {
  const start = process.cpuUsage()
  filter(text, { maxLength: Number.POSITIVE_INFINITY })
  const { user, system } = process.cpuUsage(start)
  return user + system
}
