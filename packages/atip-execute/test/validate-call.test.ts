import { describe, expect, test } from 'vitest'
import { mapToCommand, validateToolCall } from '../src/index.js'
import { box, call } from './helpers.js'

const tool = box({
  request: {
    description: 'Make a request',
    arguments: [
      { name: 'url', type: 'url' },
      { name: 'method', type: 'enum', enum: ['GET', 'POST'], required: false },
    ],
    options: [
      { name: 'port', flags: ['--port'], type: 'integer' },
      { name: 'timeout', flags: ['--timeout'], type: 'number', deprecated: true },
      { name: 'verbose', flags: ['-v'], type: 'boolean' },
      { name: 'headers', flags: ['-H'], type: 'array' },
    ],
  },
})

function validate(args: Record<string, unknown>) {
  const mapping = mapToCommand('box_request', [tool])
  if (!mapping) throw new Error('it exists')
  return validateToolCall(call('box_request', args), mapping)
}
const codes = (args: Record<string, unknown>) =>
  validate(args).errors.map(({ code, parameter }) => [code, parameter])

describe('validateToolCall', () => {
  test('returns the arguments as their types want them', () => {
    expect(
      validate({
        url: '',
        port: '8080',
        timeout: '30.5',
        verbose: 'false',
        headers: ['a', 'b'],
        method: 'POST',
      }),
    ).toMatchObject({
      valid: true,
      errors: [],
      normalizedArgs: {
        url: '',
        port: 8080,
        timeout: 30.5,
        verbose: false,
        headers: ['a', 'b'],
        method: 'POST',
      },
    })
  })

  test.each([undefined, null])('a call with %s for arguments has none', (args) => {
    const missing = { code: 'MISSING_REQUIRED', parameter: 'url' }
    expect(validate(args as unknown as Record<string, unknown>)).toMatchObject({ errors: [missing] })
  })

  test.each(['{}', [], 5])('arguments that are no object are refused: %j', (args) => {
    const message = 'The arguments of box_request must be one object of names and values.'
    expect(validate(args as unknown as Record<string, unknown>)).toEqual({
      valid: false,
      errors: [{ code: 'INVALID_TYPE', message, value: args, expected: 'object' }],
      warnings: [],
    })
  })

  test('an argument that does not say whether it is required is', () => {
    expect(validate({})).toEqual({
      valid: false,
      errors: [
        { code: 'MISSING_REQUIRED', message: '"url" is required and was not given.', parameter: 'url' },
      ],
      warnings: [],
    })
  })

  test('null is absent where it may be, as strict mode sends it, and a wrong type where it may not', () => {
    expect(validate({ url: 'x', port: null, method: null }).normalizedArgs).toEqual({ url: 'x' })
    expect(codes({ url: null })).toEqual([['INVALID_TYPE', 'url']])
    expect(codes({ url: undefined })).toEqual([['MISSING_REQUIRED', 'url']])
    const level = { name: 'level', type: 'enum', enum: ['low', 'high'] } as const
    const mapping = mapToCommand('box_set', [box({ set: { description: 'Set', arguments: [level] } })])
    expect(mapping && validateToolCall(call('box_set', { level: null }), mapping).errors).toMatchObject([
      { code: 'INVALID_TYPE', parameter: 'level' },
    ])
  })

  test.each([
    [{ url: 12345 }, 'INVALID_TYPE', 'string', '"url" must be a string.'],
    [{ url: 'a\0b' }, 'INVALID_TYPE', 'string', '"url" must not'],
    [{ url: 'x', port: '12abc' }, 'INVALID_TYPE', 'integer', '"port" must be a whole number.'],
    [{ url: 'x', port: 1.5 }, 'INVALID_TYPE', 'integer', '"port" must be a whole number.'],
    [{ url: 'x', timeout: Number.NaN }, 'INVALID_TYPE', 'number', '"timeout" '],
    [{ url: 'x', timeout: 'Infinity' }, 'INVALID_TYPE', 'number', '"timeout" must be a number'],
    [{ url: 'x', verbose: 'yes' }, 'INVALID_TYPE', 'boolean', '"verbose" must be'],
    [{ url: 'x', headers: 'a' }, 'INVALID_TYPE', 'array', '"headers" must be a list.'],
    [{ url: 'x', headers: ['a', 1] }, 'INVALID_TYPE', 'array', '"headers" must be a string.'],
    [{ url: 'x', method: 'get' }, 'INVALID_ENUM', 'GET, POST', '"method" must be'],
  ])('%j is %s', (args, code, expected, message) => {
    expect(validate(args).errors).toMatchObject([
      { code, expected, message: expect.stringContaining(message) },
    ])
  })

  test('every error is reported', () => {
    expect(codes({ port: 'x', method: 'x' })).toEqual([
      ['MISSING_REQUIRED', 'url'],
      ['INVALID_ENUM', 'method'],
      ['INVALID_TYPE', 'port'],
    ])
  })

  test('extra parameters warn and are not passed on; deprecated ones warn and are', () => {
    expect(validate({ url: 'x', other: 1, timeout: 1 })).toEqual({
      valid: true,
      errors: [],
      warnings: [
        expect.objectContaining({ code: 'EXTRA_PARAMETER', parameter: 'other' }),
        expect.objectContaining({ code: 'DEPRECATED_PARAMETER', parameter: 'timeout' }),
      ],
      normalizedArgs: { url: 'x', timeout: 1 },
    })
  })
})
