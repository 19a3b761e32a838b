import { expect, test } from 'vitest'
import { actionIdFor } from '../src/calls/action-id.js'

test("the model's id is kept when it is safe and unused", () => {
  expect(actionIdFor('call_1', { iteration: 3, index: 0, used: new Set() })).toBe('call_1')
})

test.each(['../../etc/passwd', '', 'x'.repeat(300), 'a b', 'a\0b'])(
  'the id %j is not safe as a name and becomes <iteration>-<index>',
  (id) => {
    expect(actionIdFor(id, { iteration: 3, index: 1, used: new Set() })).toBe('3-1')
  },
)

test('an id that the run has used becomes <iteration>-<index>', () => {
  const used = new Set<string>()
  actionIdFor('call_0', { iteration: 1, index: 0, used })
  expect(actionIdFor('call_0', { iteration: 2, index: 0, used })).toBe('2-0')
})

test('a model that uses our own form of id gets no two calls under one name', () => {
  const used = new Set(['2-0'])
  expect(actionIdFor('2-0', { iteration: 2, index: 0, used })).not.toBe('2-0')
})
