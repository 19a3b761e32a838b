import { defineTool, parsePolicy } from '@delta/executor'
import { expect, test } from 'vitest'
import { runnerAfterApproval } from '../src/runner.js'

const effects = { destructive: true, interactive: { prompts: true } }
const [look, wipe, drop] = [
  defineTool({ name: 'look', exec: 'ls', effects: { destructive: false } }),
  defineTool({ name: 'wipe', exec: 'echo wiped', effects: { destructive: true } }),
  defineTool({
    name: 'drop',
    command: ['echo'],
    parameters: [
      { name: 'yes', type: 'boolean', required: false, inject_as: 'option', option_name: '--yes' },
    ],
    effects,
  }),
] as const

test('a framework asks about a tool only if the policy may put some call of it to a person, and then about such a call', () => {
  const approvals = (options: Parameters<typeof runnerAfterApproval>[1]) =>
    [look, wipe, drop].map(runnerAfterApproval([look, wipe, drop], options).approvalOf)
  const [ofLook, ofWipe, ofDrop] = approvals({ policy: parsePolicy({}) })
  expect(ofLook).toBeUndefined()
  expect(ofWipe?.({})).toBe(true)
  // without --yes the command would wait for an answer, so the call is refused and nobody is asked
  expect([ofDrop?.({}), ofDrop?.({ yes: true })]).toEqual([false, true])

  const nobody = [undefined, undefined, undefined]
  expect(approvals({ policy: parsePolicy({}), confirm: () => true })).toEqual(nobody)
  expect(approvals({ policy: parsePolicy({ on_confirmation: 'deny' }) })).toEqual(nobody)
  expect(approvals({ policy: parsePolicy({ tools: { wipe: 'allow' } }) })).toEqual(nobody)
  expect(approvals({})).toEqual(nobody)
})
