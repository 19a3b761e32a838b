import * as atip from '@delta/atip'
import { describe, expect, test } from 'vitest'
import * as execute from '../src/index.js'

const context = { toolName: 'x', command: ['x'], arguments: {}, reasons: [], effects: {} }

describe('the names of the interface', () => {
  test('constants have the values of the interface', () => {
    expect([execute.DEFAULT_TIMEOUT, execute.DEFAULT_MAX_OUTPUT_SIZE]).toEqual([30_000, 1_048_576])
    expect([execute.DEFAULT_MAX_RESULT_LENGTH, execute.DEFAULT_SEPARATOR]).toEqual([100_000, '_'])
    expect(execute.TRUST_LEVEL_ORDER).toEqual({
      native: 6,
      vendor: 5,
      org: 4,
      community: 3,
      user: 2,
      inferred: 1,
    })
  })

  test('what reads responses and hands results back is that of @delta/atip', () => {
    expect(execute.parseToolCall).toBe(atip.parseToolCall)
    expect(execute.handleToolResult).toBe(atip.handleToolResult)
    expect(execute.DEFAULT_REDACT_PATTERNS).toBe(atip.DEFAULT_REDACT_PATTERNS)
  })

  test.each([
    [new execute.UnknownCommandError('x'), 'UNKNOWN_COMMAND', { toolName: 'x' }],
    [new execute.ArgumentValidationError('m', 'x', []), 'VALIDATION_FAILED', { errors: [] }],
    [new execute.PolicyViolationError('m', 'x', []), 'POLICY_VIOLATION', { violations: [] }],
    [new execute.RequiresConfirmationError(context), 'REQUIRES_CONFIRMATION', { context }],
    [
      new execute.InsufficientTrustError('x', 'user', 'org'),
      'INSUFFICIENT_TRUST',
      { actual: 'user', required: 'org', actualTrust: 'user', requiredTrust: 'org' },
    ],
    [new execute.ExecutionError('m', ['x']), 'EXECUTION_FAILED', { command: ['x'] }],
    [new execute.TimeoutError(['x'], 5, 'o', 'e'), 'TIMEOUT', { timeout: 5, stdout: 'o', stderr: 'e' }],
    [
      new execute.InteractiveNotSupportedError('x', { tty: true }),
      'INTERACTIVE_NOT_SUPPORTED',
      { toolName: 'x' },
    ],
    [new execute.AtipExecuteError('m', 'INVALID_CONFIG'), 'INVALID_CONFIG', { message: 'm' }],
  ])('%s is an AtipExecuteError with its code and fields', (error, code, fields) => {
    expect(error).toBeInstanceOf(execute.AtipExecuteError)
    expect(error).toMatchObject({ name: error.constructor.name, code, ...fields })
    expect(execute.isAtipExecuteError(error)).toBe(true)
  })
})
