import * as atip from '@delta/atip'
import { describe, expect, test } from 'vitest'
import * as execute from '../src/index.js'
import { call, echo } from './helpers.js'

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
    [new execute.UnknownCommandError('x'), 'UnknownCommandError', 'UNKNOWN_COMMAND', { toolName: 'x' }],
    [
      new execute.ArgumentValidationError('m', 'x', []),
      'ArgumentValidationError',
      'VALIDATION_FAILED',
      { errors: [] },
    ],
    [
      new execute.PolicyViolationError('m', 'x', []),
      'PolicyViolationError',
      'POLICY_VIOLATION',
      { violations: [] },
    ],
    [
      new execute.RequiresConfirmationError(context),
      'RequiresConfirmationError',
      'REQUIRES_CONFIRMATION',
      { context },
    ],
    [
      new execute.InsufficientTrustError('x', 'user', 'org'),
      'InsufficientTrustError',
      'INSUFFICIENT_TRUST',
      { actual: 'user', required: 'org' },
    ],
    [new execute.ExecutionError('m', ['x']), 'ExecutionError', 'EXECUTION_FAILED', { command: ['x'] }],
    [
      new execute.TimeoutError(['x'], 5, 'o', 'e'),
      'TimeoutError',
      'TIMEOUT',
      { timeout: 5, stdout: 'o', stderr: 'e' },
    ],
    [
      new execute.InteractiveNotSupportedError('x', { tty: true }),
      'InteractiveNotSupportedError',
      'INTERACTIVE_NOT_SUPPORTED',
      { toolName: 'x' },
    ],
  ])('%s is an AtipExecuteError with its code and fields', (error, name, code, fields) => {
    expect(error).toBeInstanceOf(execute.AtipExecuteError)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name, code, ...fields })
    expect(execute.isAtipExecuteError(error)).toBe(true)
  })

  test('the base of all errors takes a message and a code', () => {
    expect(new execute.AtipExecuteError('m', 'C')).toMatchObject({
      name: 'AtipExecuteError',
      message: 'm',
      code: 'C',
    })
  })
})

describe('side by side', () => {
  /** How many people are asked at the same time, when nobody answers before all who can have been asked. */
  async function mostAtOnce(options: execute.BatchOptions): Promise<number> {
    let [now, most] = [0, 0]
    const confirmationHandler = async () => {
      most = Math.max(most, ++now)
      for (let turn = 0; turn < 50; turn++) await Promise.resolve()
      now--
      return false
    }
    const tool = echo({ erase: { description: 'Erase', effects: { destructive: true } } })
    const executor = execute.createExecutor({ tools: [tool], policy: { confirmationHandler } })
    const calls = Array.from({ length: 9 }, () => call('echo_erase'))
    expect((await executor.executeBatch(calls, options)).failureCount).toBe(9)
    return most
  }

  test('one at a time unless asked, four by default, and never more than allowed', async () => {
    expect(await mostAtOnce({})).toBe(1)
    expect(await mostAtOnce({ maxConcurrency: 3 })).toBe(1)
    expect(await mostAtOnce({ parallel: true })).toBe(4)
    expect(await mostAtOnce({ parallel: true, maxConcurrency: 2 })).toBe(2)
    expect(await mostAtOnce({ parallel: true, maxConcurrency: 0 })).toBe(1)
  })
})

describe("what metadata may say of a command's limit", () => {
  test('a timeout of 0 lifts none', async () => {
    const hang = call('echo_-c', { script: 'sleep 300' })
    const limited = (own: string, timeout: number) =>
      execute.createExecutor({ tools: [shellWithin(own)], execution: { timeout } }).execute(hang)
    await expect(limited('0s', 150)).rejects.toMatchObject({ code: 'TIMEOUT', timeout: 150 })
    await expect(limited('150ms', 0)).rejects.toMatchObject({ code: 'TIMEOUT', timeout: 150 })
  })
})

function shellWithin(timeout: string) {
  return echo(
    {
      '-c': {
        description: 'Run a script',
        arguments: [{ name: 'script', type: 'string' }],
        effects: { duration: { timeout } },
      },
    },
    { binary: 'sh' },
  )
}
