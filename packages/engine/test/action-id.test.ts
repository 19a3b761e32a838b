import { expect, test } from 'vitest'
import { actionIdFor } from '../src/think.js'

test.each(['call_1', 'functions.write_file:0'])("the model's id %s is kept, being safe and unused", (id) => {
  expect(actionIdFor(id, { iteration: 3, index: 0, used: new Set() })).toBe(id)
})

test.each(['../../etc/passwd', '..', '.a', '', 'x'.repeat(300), 'a b', 'a\0b'])(
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
