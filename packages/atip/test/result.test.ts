import { describe, expect, test } from 'vitest'
import { createResultFilter, DEFAULT_REDACT_PATTERNS } from '../src/index.js'
import { box } from './helpers.js'

const filter = (text: string, options = {}) => createResultFilter([], options).filter(text, 'box_run')
const letters = (length: number) => 'abcdefghij1234567890'.repeat(Math.ceil(length / 20)).slice(0, length)

describe('secrets', () => {
  test.each([
    ['a GitHub token', `ghp_${letters(36)}`],
    ['a fine-grained GitHub token', `github_pat_${letters(22)}_${letters(59)}`],
    ['an OpenAI key', `sk-proj-${letters(40)}`],
    ['an Anthropic key', `sk-ant-api03-${letters(80)}`],
    ['an AWS key id', 'AKIAIOSFODNN7EXAMPLE'],
    ['a Slack token', `xoxb-${letters(30)}`],
    ['a Slack app token', `xapp-${letters(30)}`],
    ['a GitLab token', `glpat-${letters(20)}`],
    ['a Stripe key', `sk_live_${letters(24)}`],
    ['an npm token', `npm_${letters(36)}`],
    ['a Hugging Face token', `hf_${letters(34)}`],
    ['a Google key', `AIza${letters(35)}`],
    ['a Google OAuth token', `ya29.${letters(40)}`],
    ['a JSON web token', `eyJ${letters(20)}.eyJ${letters(30)}.${letters(30)}`],
    ['a private key', `-----BEGIN RSA PRIVATE KEY-----\n${letters(200)}\n-----END RSA PRIVATE KEY-----`],
    ['a private key cut off', `-----BEGIN PRIVATE KEY-----\n${letters(200)}`],
  ])('%s is redacted whole', (_name, secret) => {
    expect(filter(`before ${secret}`)).toBe('before [REDACTED]')
    const each = DEFAULT_REDACT_PATTERNS.reduce((rest, one) => rest.replace(one, '-'), `before ${secret}`)
    expect(each).toBe('before -')
  })

  test.each([
    ['password=hunter2', 'password=[REDACTED]'],
    ['API_KEY: sk-1234', 'API_KEY: [REDACTED]'],
    ['{"token": "a b c", "user": "ada"}', '{"token": "[REDACTED]", "user": "ada"}'],
    ["secret = 'two words'", "secret = '[REDACTED]'"],
    ['postgres://ada:pass@db/x', 'postgres://ada:[REDACTED]@db/x'],
    ['Authorization: Bearer abc.def-ghi', 'Authorization: [REDACTED]'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Authorization: [REDACTED]'],
  ])('the value in %j is redacted and its name stays', (text, redacted) => {
    expect(filter(text)).toBe(redacted)
  })

  test.each(['Basic information', 'the bearer of news', 'a token of thanks', 'tokens: 5', 'https://a.b/c:d'])(
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
    ['prefixes', 'eyJsk-ghp_xoxb-glpat-sk_live_npm_hf_'.repeat(1_400)],
    ['key headers', '-----BEGIN PRIVATE KEY----'.repeat(1_900)],
    ['white space', `Bearer${' '.repeat(50_000)}`],
    ['URLs', 'a://b:'.repeat(8_300)],
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
