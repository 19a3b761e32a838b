import { describe, expect, test } from 'vitest'
import { AtipParseError, handleToolResult, isAtipError, parseToolCall } from '../src/index.js'

const openai = (...calls: unknown[]) => ({ choices: [{ message: { tool_calls: calls } }] })
const call = (id: string, args: unknown) => ({ id, function: { name: 'box_run', arguments: args } })
const gemini = (...parts: unknown[]) => ({ candidates: [{ content: { parts } }] })

describe('parseToolCall', () => {
  test('OpenAI arguments are JSON text or an object, and may be absent', () => {
    const response = openai(call('1', '{"a": 1}'), call('2', { b: 2 }), call('3', ''), call('4', undefined))
    expect(parseToolCall('openai', response)).toEqual([
      { id: '1', name: 'box_run', arguments: { a: 1 } },
      { id: '2', name: 'box_run', arguments: { b: 2 } },
      { id: '3', name: 'box_run', arguments: {} },
      { id: '4', name: 'box_run', arguments: {} },
    ])
  })

  test('Anthropic calls stand between blocks of text, and of no type', () => {
    const content = [
      { type: 'text', text: 'Hm' },
      {},
      { type: 'tool_use', id: 't1', name: 'box_run', input: { a: 1 } },
    ]
    expect(parseToolCall('anthropic', { content })).toEqual([
      { id: 't1', name: 'box_run', arguments: { a: 1 } },
    ])
  })

  test('Gemini calls without ids get ids of their own, and the results find their function again', () => {
    const functionCall = { name: 'box_run', args: {} }
    const calls = parseToolCall('gemini', gemini({ functionCall }, { text: 'and' }, { functionCall }))
    expect(calls.map(({ id }) => id)).toEqual(['box_run', 'box_run#2'])
    for (const call of calls) {
      const parts = [{ function_response: { name: 'box_run', response: 1 } }]
      expect(handleToolResult('gemini', call.id, 1).parts).toEqual(parts)
      expect(handleToolResult('gemini', call, 1).parts).toEqual(parts)
    }
  })

  test('ids of Gemini calls stay apart, whether the server sent some, one twice, an empty one or none', () => {
    const call = (name: string, id?: string) => ({ functionCall: { name, ...(id !== undefined && { id }) } })
    const idsOf = (...parts: unknown[]) => parseToolCall('gemini', gemini(...parts)).map(({ id }) => id)
    expect(idsOf(call('f'), call('g', 'f'))).toEqual(['f#2', 'f'])
    expect(idsOf(call('f', 'i'), call('f', 'i'))).toEqual(['i', 'f'])
    expect(idsOf(call('f', ''), call('f'))).toEqual(['f', 'f#2'])
  })

  test('the id that Gemini gives a call is kept, and goes back with the result', () => {
    const functionCall = { id: 'fc-81', name: 'box_run', args: { a: 1 } }
    const [call] = parseToolCall('gemini', gemini({ functionCall }))
    expect(call).toEqual({ id: 'fc-81', name: 'box_run', arguments: { a: 1 } })
    expect(call && handleToolResult('gemini', call, { ok: true })).toEqual({
      role: 'user',
      parts: [{ function_response: { id: 'fc-81', name: 'box_run', response: { ok: true } } }],
    })
  })

  test.each([
    ['openai', { choices: [{ message: { content: 'Hello' } }] }],
    ['openai', { choices: [{ message: { content: 'Hello', tool_calls: null } }] }],
    ['openai', { choices: [] }],
    ['gemini', gemini({ text: 'Hello' })],
    ['gemini', { candidates: [{ finishReason: 'STOP' }] }],
    ['anthropic', { content: [{ type: 'text', text: 'Hello' }] }],
  ] as const)('%s: an answer without calls is an empty list: %j', (provider, response) => {
    expect(parseToolCall(provider, response)).toEqual([])
  })

  test.each([
    ['openai', { error: 'quota' }, 'the response: "choices" is missing'],
    ['gemini', null, 'the response: must be a mapping with "candidates", got nothing'],
    ['anthropic', '<html>', 'the response: must be a mapping with "content", got "<html>"'],
    ['openai', openai(call('1', '[1]')), 'the arguments of box_run must be a JSON object, got a list'],
    ['openai', openai(call('1', '{"a": ')), 'the arguments of box_run are not JSON: '],
    [
      'openai',
      openai({ function: { name: 'x' } }),
      'the response.choices.0.message.tool_calls.0: "id" is missing',
    ],
    ['anthropic', { content: [{ type: 'tool_use', id: 't1' }] }, 'the response.content.0: "name" is missing'],
    [
      'gemini',
      gemini({ functionCall: { name: '' } }),
      'the response.candidates.0.content.parts.0.functionCall.name: must not be empty',
    ],
  ] as const)('%s: what is not a response is refused with the reason: %j', (provider, response, message) => {
    try {
      parseToolCall(provider, response)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(AtipParseError)
      expect(isAtipError(error)).toBe(true)
      expect(error).toMatchObject({
        provider,
        response,
        message: expect.stringContaining(`AtipParseError: ${message}`),
      })
    }
  })
})

describe('handleToolResult', () => {
  test('OpenAI and Anthropic get JSON text, Gemini the value', () => {
    expect(handleToolResult('openai', 'c1', { ok: true })).toEqual({
      role: 'tool',
      tool_call_id: 'c1',
      content: '{"ok":true}',
    })
    expect(handleToolResult('openai', 'c1', undefined).content).toBe('undefined')
    expect(handleToolResult('anthropic', 't1', 'done')).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't1', content: '"done"' }],
    })
    expect(handleToolResult('gemini', 'box_run', { ok: true })).toEqual({
      role: 'user',
      parts: [{ function_response: { name: 'box_run', response: { ok: true } } }],
    })
  })

  test('a result that contains itself is refused by name', () => {
    const result: Record<string, unknown> = {}
    result.self = result
    expect(() => handleToolResult('openai', 'call_1', result)).toThrow(
      /^handleToolResult: the result cannot be written as JSON \(Converting circular structure to JSON/,
    )
  })
})
