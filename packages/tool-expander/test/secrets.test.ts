import { describe, expect, test } from 'vitest'
import { redactPatterns, SECRET_PATTERNS } from '../src/internal.js'

describe('What looks like a secret is found', () => {
  const letters = 'aB3'.repeat(20)
  test.each([
    ['GitHub', `ghp_${letters.slice(0, 36)}`],
    ['GitHub, fine-grained', `github_pat_${letters.slice(0, 22)}_${letters}`],
    ['OpenAI', `sk-${letters.slice(0, 48)}`],
    ['OpenAI, by project', `sk-proj-${letters}`],
    ['Anthropic', `sk-ant-api03-${letters}-AA`],
    ['AWS', 'AKIAIOSFODNN7EXAMPLE'],
    ['Slack', `xoxb-123456789012-${letters.slice(0, 24)}`],
    ['a Slack app', `xapp-${letters}`],
    ['GitLab', `glpat-${letters.slice(0, 20)}`],
    ['Stripe', `sk_live_${letters.slice(0, 24)}`],
    ['npm', `npm_${letters.slice(0, 36)}`],
    ['Hugging Face', `hf_${letters.slice(0, 34)}`],
    ['Google OAuth', `ya29.${letters.slice(0, 40)}`],
    ['Google', `AIza${letters.slice(0, 35)}`],
    ['a JWT', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.${letters.slice(0, 43)}`],
    [
      'a private key',
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n${letters}\n${letters}==\n-----END RSA PRIVATE KEY-----`,
    ],
    ['a private key in JSON', `-----BEGIN PRIVATE KEY-----\\n${letters}\\n-----END PRIVATE KEY-----`],
  ])('%s', (_service, token) => {
    expect(redactPatterns(`a "${token}" b`)).toBe('a "[REDACTED]" b')
    const each = SECRET_PATTERNS.reduce((rest, pattern) => rest.replace(pattern, '-'), `a "${token}" b`)
    expect(each).toBe('a "-" b')
  })

  test('a private key of which only one end is there', () => {
    expect(redactPatterns(`a: -----BEGIN PRIVATE KEY-----\n${letters}`)).toBe('a: [REDACTED]')
    expect(redactPatterns(`a:${letters}\n${letters}=\n-----END PRIVATE KEY-----\nb`)).toBe('a:[REDACTED]\nb')
  })

  test('a token that is glued to other text', () => {
    const token = `ghp_${letters.slice(0, 36)}`
    expect(redactPatterns(`x${token} TOKEN_${token}`)).toBe('x[REDACTED] TOKEN_[REDACTED]')
  })

  test('only the password of a URL goes', () => {
    expect(redactPatterns('postgres://me:hunter2@db:5432/x?y=1')).toBe(
      'postgres://me:[REDACTED]@db:5432/x?y=1',
    )
  })

  test.each([
    'task-list-with-a-very-long-kebab-case-name',
    'https://example.com:8080/path',
    'mail me@example.com: see http://a/b',
    'const header = "-----BEGIN CERTIFICATE-----"',
    'AKIA is a prefix',
    'eyJ is how a JWT begins',
  ])('%s is no secret', (text) => {
    expect(redactPatterns(text)).toBe(text)
  })
})

/** Eight times the text must not take much more than eight times as long; quadratic would be 64. */
describe('Looking for patterns takes linear time on', () => {
  test.each([
    'a',
    'A',
    'sk-',
    'sk-a',
    'ghp_',
    'github_pat_',
    'eyJ',
    'eyJaaaaaaaaaa.',
    'eyJaaaaaaaaaa.eyJ',
    'AKIA',
    'xoxb-',
    'AIza',
    '://',
    '://a:',
    'x://a:b',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN A B C D ',
    '-----END PRIVATE KEY-----',
    '-----',
    '-',
  ])('%s again and again', (unit) => {
    // eight times the text: what is quadratic takes 64 times as long in every attempt, a busy machine in some
    const growth = () =>
      fastest(unit.repeat(2_000_000 / unit.length)) /
      Math.max(fastest(unit.repeat(250_000 / unit.length)), 0.5)
    expect(Math.min(growth(), growth(), growth())).toBeLessThan(32)
  })

  /** In CPU time, which other programs on the machine do not lengthen. */
  function fastest(text: string): number {
    const runs = [1, 2, 3].map(() => {
      const before = process.cpuUsage()
      redactPatterns(text)
      const { user, system } = process.cpuUsage(before) // their sum is measured, their shares are guessed by the tick
      return (user + system) / 1000
    })
    return Math.min(...runs)
  }
})
