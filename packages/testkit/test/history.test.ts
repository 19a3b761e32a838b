import { describe, expect, test } from 'vitest'
import { findHistoryProblem } from '../src/index.js'

const user = { role: 'user', content: 'Go.' }
const calls = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'echo', arguments: '{}' } })),
})
const answer = (id: string, content: unknown = 'ok') => ({ role: 'tool', tool_call_id: id, content })
const place = (...messages: object[]) => findHistoryProblem({ model: 'm', messages })?.param

test('a conversation in which every call is answered once, in order, is accepted', () => {
  expect(
    place(user, calls('a', 'b'), answer('a'), answer('b'), { role: 'assistant', content: 'Done.' }),
  ).toBe(undefined)
})

describe('what a strict API refuses', () => {
  test('a call without an answer, at the end or before the next message', () => {
    expect(place(user, calls('a', 'b'), answer('a'))).toBe('messages.[1].tool_calls')
    expect(place(user, calls('a'), user, answer('a'))).toBe('messages.[1].tool_calls')
  })

  test('an answer without a call, or a second one', () => {
    expect(place(user, answer('a'))).toBe('messages.[1].role')
    expect(place(user, calls('a'), answer('a'), answer('a'))).toBe('messages.[3].role')
    expect(place(user, calls('a', 'b'), answer('a'), answer('a'))).toBe('messages.[3].role')
  })

  test('answers in another order than the calls', () => {
    expect(place(user, calls('a', 'b'), answer('b'), answer('a'))).toBe('messages.[2].tool_call_id')
  })

  test('missing content', () => {
    expect(place({ role: 'user' })).toBe('messages.[0].content')
    expect(place(user, { role: 'assistant', content: null })).toBe('messages.[1].content')
    expect(place(user, calls('a'), answer('a', null))).toBe('messages.[2].content')
  })

  test('call ids that repeat or cannot be ids, calls that are no function calls', () => {
    expect(place(user, calls('a'), answer('a'), calls('a'), answer('a'))).toBe('messages.[3].tool_calls.[0]')
    expect(place(user, calls('../a'), answer('../a'))).toBe('messages.[1].tool_calls.[0]')
    const parsed = { id: 'a', type: 'function', function: { name: 'echo', arguments: {} } }
    expect(place(user, { role: 'assistant', tool_calls: [parsed] })).toBe('messages.[1].tool_calls.[0]')
    expect(place(user, { role: 'assistant', content: 'x', tool_calls: [] })).toBe('messages.[1].tool_calls')
  })

  test('no model, no messages, unknown roles, tools without a usable or unique name', () => {
    expect(findHistoryProblem({ messages: [user] })?.param).toBe('model')
    expect(findHistoryProblem({ model: 'm', messages: [] })?.param).toBe('messages')
    expect(place({ role: 'robot', content: 'x' })).toBe('messages.[0].role')
    const tool = { type: 'function', function: { name: 'echo' } }
    const problemOf = (...tools: object[]) =>
      findHistoryProblem({ model: 'm', messages: [user], tools })?.param
    expect(problemOf(tool)).toBe(undefined)
    expect(problemOf(tool, tool)).toBe('tools.[1].function.name')
    expect(problemOf({ type: 'function', function: { name: 'a b' } })).toBe('tools.[0].function.name')
    expect(problemOf()).toBe('tools')
  })
})
