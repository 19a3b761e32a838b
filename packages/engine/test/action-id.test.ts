import { expect, test } from 'vitest'
import { actionIdFor } from '../src/think.js'

test.each(['call_1', 'functions.write_file:0'])("the model's id %s is kept, being safe and unused", (id) => {
  expect(actionIdFor(id, { iteration: 3, index: 0, isUsed: () => false })).toBe(id)
})

test.each(['../../etc/passwd', '..', '.a', '', 'x'.repeat(300), 'a b', 'a\0b'])(
  'the id %j is not safe as a name and becomes <iteration>-<index>',
  (id) => {
    expect(actionIdFor(id, { iteration: 3, index: 1, isUsed: () => false })).toBe('3-1')
  },
)

test('an id that the run has used becomes <iteration>-<index>', () => {
  expect(actionIdFor('call_0', { iteration: 2, index: 0, isUsed: (id) => id === 'call_0' })).toBe('2-0')
})

test('a model that uses our own form of id gets no two calls under one name', () => {
  expect(actionIdFor('2-0', { iteration: 2, index: 0, isUsed: (id) => id === '2-0' })).not.toBe('2-0')
})
