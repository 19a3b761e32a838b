import { describe, expect, test } from 'vitest'
import { type ExecutionResult, formatResult, type OutputOptions } from '../src/index.js'

const base: ExecutionResult = {
  success: true,
  exitCode: 0,
  stdout: 'output',
  stderr: '',
  duration: 1,
  truncated: false,
  timedOut: false,
  command: ['box'],
  toolCallId: 'call_1',
  toolName: 'box_run',
}
const secret = `ghp_${'a1'.repeat(20)}`
const format = (result: Partial<ExecutionResult>, options?: OutputOptions) =>
  formatResult({ ...base, ...result }, options).content

describe('formatResult', () => {
  test('a success is its stdout, byte for byte, and the raw result comes along', () => {
    expect(formatResult(base)).toEqual({ content: 'output', success: true, raw: base })
    expect(format({ stdout: '  a\n\n' })).toBe('  a\n\n')
    expect(format({ stdout: '' })).toBe('')
  })

  test('a stream that another program did not capture counts as empty', () => {
    const none = JSON.parse('{ "stdout": null, "stderr": null, "exitCode": null, "success": false }')
    expect(format(none)).toBe('[Exit code: none]')
  })

  test('stderr follows a success and leads a failure', () => {
    expect(format({ stderr: 'warning' })).toBe('output\nwarning')
    expect(format({ stderr: 'error\n', success: false, exitCode: 1 })).toBe('error\noutput\n[Exit code: 1]')
    expect(format({ stderr: 'warning' }, { includeStderr: false })).toBe('output')
  })

  test('markers say what happened', () => {
    expect(format({}, { includeExitCode: true })).toBe('output\n[Exit code: 0]')
    const failure = { success: false, exitCode: 1, stdout: '' }
    expect(format(failure)).toBe('[Exit code: 1]')
    expect(format(failure, { includeExitCode: false })).toBe('')
    expect(format({ success: false, timedOut: true })).toBe('output\n[TIMEOUT]')
    expect(format({ stdout: 'a b', truncated: true })).toBe('a \n[TRUNCATED]')
  })

  test('a result that was cut twice says so once', () => {
    const content = format({ stdout: `${'x y '.repeat(100)}`, truncated: true }, { maxLength: 50 })
    expect(content.split('[TRUNCATED]')).toHaveLength(2)
    expect(content.length).toBeLessThanOrEqual(50)
  })

  test('the whole never exceeds the limit, and the markers and stderr survive', () => {
    const content = format(
      { stdout: `${secret}\n${'x'.repeat(5000)}`, stderr: 'warning' },
      { maxLength: 1000, includeExitCode: true },
    )
    expect(content.length).toBeLessThanOrEqual(1000)
    expect(content).toMatch(/^\[REDACTED\]\nx+\n\[TRUNCATED\]\nwarning\n\[Exit code: 0\]$/)
    for (const maxLength of [0, 1, 5, 11, 12, 13, 20, 40]) {
      expect(
        format({ stdout: 'y'.repeat(99), stderr: 'z'.repeat(99) }, { maxLength, includeExitCode: true })
          .length,
      ).toBeLessThanOrEqual(maxLength)
    }
  })

  test('secrets are redacted before a cut, also when the output was cut earlier', () => {
    const half = `${'x '.repeat(10)}${secret.slice(0, 20)}`
    expect(format({ stdout: half, truncated: true })).not.toContain('ghp_')
    expect(format({ stdout: `${'x'.repeat(30)} ${secret}` }, { maxLength: 60 })).not.toContain('ghp_')
  })

  test("secrets are redacted by the executor's patterns and by those of the interface", () => {
    const letters = 'abcdefghij1234567890'.repeat(2)
    for (const secret of [
      `glpat-${letters}`,
      `github_pat_${letters}`,
      `sk-ant-${letters}`,
      `xoxb-${letters}`,
    ]) {
      expect(format({ stdout: `it is ${secret}` })).toBe('it is [REDACTED]')
    }
    const cutKey = `${letters}\n-----END OPENSSH PRIVATE KEY-----\n`
    expect(format({ stdout: cutKey })).not.toContain(letters)
    expect(format({ stdout: 'password=hunter2' })).toBe('password=[REDACTED]')
  })

  test('redaction can be turned off, and patterns added', () => {
    expect(format({ stdout: secret }, { redactSecrets: false })).toBe(secret)
    expect(format({ stdout: 'id=42' }, { redactPatterns: [/id=\d+/] })).toBe('[REDACTED]')
  })

  test('an own formatter sees the result; what it makes is still redacted and cut', () => {
    expect(format({}, { formatter: (result) => `Custom: ${result.stdout}` })).toBe('Custom: output')
    expect(format({ stdout: secret }, { formatter: ({ stdout }) => stdout })).toBe('[REDACTED]')
  })
})
