import { describe, expect, test } from 'vitest'
import { AtipParseError, handleToolResult, isAtipError, parseToolCall } from '../src/index.js'

const openai = (...calls: unknown[]) => ({ choices: [{ message: { tool_calls: calls } }] })
const call = (id: string, args: unknown) => ({ id, function: { name: 'box_run', arguments: args } })
const gemini = (...parts: unknown[]) => ({ candidates: [{ content: { parts } }] })

describe('reading calls', () => {
  test('OpenAI arguments are JSON text or an object', () => {
    expect(parseToolCall('openai', openai(call('1', '{"a": 1}'), call('2', { b: 2 })))).toEqual([
      { id: '1', name: 'box_run', arguments: { a: 1 } },
      { id: '2', name: 'box_run', arguments: { b: 2 } },
    ])
  })

  test('a call without arguments has none', () => {
    expect(parseToolCall('openai', openai(call('1', '')))[0]?.arguments).toEqual({})
  })

  test('Anthropic calls stand between blocks of text', () => {
    const content = [
      { type: 'text', text: 'Hm' },
      { type: 'tool_use', id: 't1', name: 'box_run', input: { a: 1 } },
    ]
    expect(parseToolCall('anthropic', { content })).toEqual([
      { id: 't1', name: 'box_run', arguments: { a: 1 } },
    ])
  })

  test('Gemini calls get ids of their own, and the results find their function again', () => {
    const functionCall = { name: 'box_run', args: {} }
    const calls = parseToolCall('gemini', gemini({ functionCall }, { text: 'and' }, { functionCall }))
    expect(calls.map(({ id }) => id)).toEqual(['box_run', 'box_run#2'])
    expect(calls.map(({ id }) => handleToolResult('gemini', id, 1).parts[0]?.function_response.name)).toEqual(
      ['box_run', 'box_run'],
    )
  })

  test.each([
    ['openai', { choices: [{ message: { content: 'Hello' } }] }],
    ['gemini', gemini({ text: 'Hello' })],
    ['anthropic', { content: [{ type: 'text', text: 'Hello' }] }],
  ] as const)('%s: an answer without calls is an empty list', (provider, response) => {
    expect(parseToolCall(provider, response)).toEqual([])
  })
})

describe('what is no response', () => {
  test.each([
    ['openai', { error: 'quota' }, 'AtipParseError: no "choices" in the response'],
    ['gemini', null, 'AtipParseError: no "candidates" in the response'],
    ['anthropic', '<html>', 'AtipParseError: no "content" list in the response'],
    ['openai', openai(call('1', '[1]')), 'AtipParseError: the arguments of box_run are not a JSON object'],
    ['openai', openai({ function: { name: 'x' } }), 'AtipParseError: the call of x has no id'],
  ] as const)('%s is refused with a reason', (provider, response, message) => {
    expect(() => parseToolCall(provider, response)).toThrow(message)
  })

  test('arguments that are broken JSON are refused, and the error carries the response', () => {
    const response = openai(call('1', '{"a": '))
    try {
      parseToolCall('openai', response)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(AtipParseError)
      expect(isAtipError(error)).toBe(true)
      expect(error).toMatchObject({
        provider: 'openai',
        response,
        message: expect.stringContaining('not JSON'),
      })
    }
  })
})

describe('handing results back', () => {
  test('OpenAI and Anthropic get JSON text, Gemini the value', () => {
    expect(handleToolResult('openai', 'c1', { ok: true })).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: '{"ok":true}',
    })
    expect(handleToolResult('anthropic', 't1', 'done')).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: '"done"' }],
    })
    expect(handleToolResult('gemini', 'box_run', { ok: true })).toEqual({
      role: 'user',
      parts: [{ function_response: { name: 'box_run', response: { ok: true } } }],
    })
  })

  test('undefined, which JSON cannot say, is the word', () => {
    expect(handleToolResult('openai', 'c1', undefined).content).toBe('undefined')
  })
})

test('a result that leads back to itself is refused by name', () => {
  const result: Record<string, unknown> = {}
  result.self = result
  expect(() => handleToolResult('openai', 'call_1', result)).toThrow(
    /^handleToolResult: the result cannot be written as JSON \(Converting circular structure to JSON/,
  )
})
