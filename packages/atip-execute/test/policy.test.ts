import { describe, expect, test } from 'vitest'
import { createExecutor, type ExecutionPolicy } from '../src/index.js'
import { call, echo } from './helpers.js'

const tool = echo(
  {
    safe: { description: 'Safe', effects: { destructive: false, network: false } },
    destroy: { description: 'Destroy', effects: { destructive: true, reversible: false, network: true } },
    undo: { description: 'Not to be undone', effects: { reversible: false, network: true } },
    pay: { description: 'Pay', effects: { cost: { billable: true, estimate: 'medium' } } },
    files: { description: 'Files', effects: { filesystem: { write: true, delete: true } } },
    ask: { description: 'Ask', effects: { interactive: { prompts: true } } },
    confirm: {
      description: 'Ask unless told',
      options: [{ name: 'yes', flags: ['-y', '--yes'], type: 'boolean', description: 'Do not ask' }],
      effects: { interactive: { prompts: true } },
    },
    mystery: { description: 'Nobody knows' },
  },
  { trust: { source: 'community' } },
)

function check(name: string, policy?: ExecutionPolicy) {
  const executor = createExecutor({ tools: [tool], ...(policy && { policy }) })
  const { allowed, requiresConfirmation, reasons, violations } = executor.checkPolicy(call(`echo_${name}`))
  return { allowed, requiresConfirmation, reasons, codes: violations.map(({ code }) => code) }
}

describe('checkPolicy', () => {
  test('without a policy everything is allowed', () => {
    for (const name of ['safe', 'destroy', 'pay', 'files', 'ask', 'mystery'])
      expect(check(name).allowed).toBe(true)
  })

  test('with one, its defaults count: no destruction, no interaction, nothing else forbidden', () => {
    expect(check('safe', {}).allowed).toBe(true)
    expect(check('pay', {}).allowed).toBe(true)
    expect(check('files', {}).allowed).toBe(true)
    expect(check('destroy', {}).codes).toEqual(['DESTRUCTIVE_BLOCKED'])
    expect(check('ask', {}).codes).toEqual(['INTERACTIVE_BLOCKED'])
  })

  test('a call that gives --yes is asked nothing', () => {
    const executor = createExecutor({ tools: [tool], policy: {} })
    const isAllowed = (args: object) => executor.checkPolicy(call('echo_confirm', { ...args })).allowed
    expect([isAllowed({}), isAllowed({ yes: false }), isAllowed({ yes: true })]).toEqual([false, false, true])
  })

  test.each<[string, ExecutionPolicy, string, string]>([
    ['destroy', {}, 'DESTRUCTIVE_BLOCKED', 'destructive'],
    ['undo', { allowNonReversible: false }, 'NON_REVERSIBLE_BLOCKED', 'non-reversible'],
    ['pay', { allowBillable: false }, 'BILLABLE_BLOCKED', 'billable'],
    ['pay', { maxCostEstimate: 'low' }, 'COST_EXCEEDED', 'cost-high'],
    ['files', { allowFilesystemDelete: false }, 'FILESYSTEM_DELETE_BLOCKED', 'filesystem-delete'],
  ])('%s under %o is for a person to decide', (name, policy, code, reason) => {
    expect(check(name, policy)).toEqual({
      allowed: false,
      requiresConfirmation: true,
      reasons: [reason],
      codes: [code],
    })
  })

  test.each<[string, ExecutionPolicy, string, string[]]>([
    ['undo', { allowNetwork: false }, 'NETWORK_BLOCKED', []],
    ['files', { allowFilesystemWrite: false }, 'FILESYSTEM_WRITE_BLOCKED', []],
    ['ask', {}, 'INTERACTIVE_BLOCKED', []],
    ['safe', { minTrustLevel: 'vendor' }, 'TRUST_INSUFFICIENT', ['low-trust']],
  ])('%s under %o is refused, and nobody can allow it', (name, policy, code, reasons) => {
    const refused = { allowed: false, requiresConfirmation: false, reasons, codes: [code] }
    expect(check(name, policy)).toEqual(refused)
  })

  test('all violations are reported', () => {
    expect(check('destroy', { allowNetwork: false, minTrustLevel: 'vendor' }).codes).toEqual([
      'DESTRUCTIVE_BLOCKED',
      'NETWORK_BLOCKED',
      'TRUST_INSUFFICIENT',
    ])
  })

  test('a command that states nothing passes no rule, one that states something is taken at its word', () => {
    expect(check('mystery', {}).codes).toEqual(['DESTRUCTIVE_BLOCKED'])
    expect(check('mystery', { allowDestructive: true, allowNetwork: false }).codes).toEqual([
      'NETWORK_BLOCKED',
    ])
    expect(check('pay', { allowNetwork: false }).allowed).toBe(true)
  })

  test('metadata without trust is trusted least', () => {
    const executor = createExecutor({
      tools: [{ ...tool, trust: undefined }],
      policy: { minTrustLevel: 'user' },
    })
    expect(executor.checkPolicy(call('echo_safe')).allowed).toBe(false)
  })
})

test.each([
  ['allow_network', false],
  ['allowNetwork', 'false'],
  ['minTrustLevel', 'orgs'],
  ['maxCostEstimate', 0],
  ['confirmationHandler', true],
])('a rule that would forbid nothing is refused by name: %s: %j', (rule, value) => {
  expect(() => createExecutor({ tools: [], policy: { [rule]: value } })).toThrow(
    expect.objectContaining({ code: 'INVALID_CONFIG', message: `The policy has no rule ${rule}: ${value}.` }),
  )
})
