import { describe, expect, test } from 'vitest'
import { type Effects, parsePolicy, safeParsePolicy, type TrustLevel } from '../src/index.js'
import { decide } from '../src/internal.js'

/** Everything declared, nothing dangerous. */
const harmless: Effects = {
  filesystem: { read: true, write: false, delete: false },
  network: false,
  destructive: false,
  reversible: true,
  interactive: { stdin: 'none' },
  cost: { estimate: 'free', billable: false },
}

test('a policy as a person writes it is refused, for it would forbid nothing', () => {
  expect(() => decide({}, { allow_network: false } as never)).toThrow('The policy was not read.')
})

test("without a policy the author's own tools may do everything", () => {
  expect(decide({ destructive: true }, undefined)).toEqual({ decision: 'allow', reasons: [] })
})

test('without rules, imported tools are held to the default rules', () => {
  for (const policy of [undefined, parsePolicy({ redact: 'declared' })]) {
    expect(decide({ destructive: true }, policy, { trust: 'native' })).toEqual({
      decision: 'ask',
      reasons: ['destructive'],
    })
    expect(decide({ ...harmless, interactive: { tty: true } }, policy, { trust: 'native' })).toEqual({
      decision: 'deny',
      reasons: ['interactive'],
    })
    expect(decide(undefined, policy, { trust: 'native' }).reasons).toEqual(['destructive (not declared)'])
    expect(decide(harmless, policy, { trust: 'inferred' }).decision).toBe('allow')
  }
})

test('a policy that only says what to redact has no rules', () => {
  expect(parsePolicy({ redact: 'patterns' })).toEqual({ onConfirmation: 'ask_human', redact: 'patterns' })
  expect(decide(undefined, parsePolicy({ redact: 'patterns' })).decision).toBe('allow')
})

test('consent to a tool allows what a person would be asked of it, adds no rules, and allows nothing that is denied', () => {
  const consent = { tools: { rm: 'allow' } }
  const [alone, asking, denying] = [
    consent,
    { ...consent, on_confirmation: 'ask_human' },
    { ...consent, on_confirmation: 'deny' },
  ].map(parsePolicy)
  const destructive = { ...harmless, destructive: true }
  expect(alone?.rules).toBeUndefined()
  expect(decide(destructive, alone, { tool: 'other' }).decision).toBe('allow')
  for (const policy of [asking, denying]) {
    expect(decide(destructive, policy, { tool: 'rm' })).toEqual({ decision: 'allow', reasons: [] })
    expect(decide(destructive, policy, { tool: 'other' }).decision).toBe(policy === asking ? 'ask' : 'deny')
    expect(decide(destructive, policy, { tool: 'constructor' }).decision).not.toBe('allow')
  }
  expect(decide(destructive, alone, { tool: 'rm', trust: 'inferred' }).decision).toBe('allow')
  const offline = parsePolicy({ ...consent, allow_network: false })
  expect(decide({ ...destructive, network: true }, offline, { tool: 'rm' }).decision).toBe('deny')
})

test('an empty policy has the documented defaults: nothing destructive, nothing interactive', () => {
  expect(parsePolicy({}).rules).toEqual({
    allowDestructive: false,
    allowNonReversible: true,
    allowBillable: true,
    allowNetwork: true,
    allowFilesystemWrite: true,
    allowFilesystemDelete: true,
    allowInteractive: false,
    minTrustLevel: 'inferred',
    maxCostEstimate: 'high',
  })
  expect(decide(harmless, parsePolicy({}))).toEqual({ decision: 'allow', reasons: [] })
})

describe('What is restricted', () => {
  test.each<[string, Effects, object, string, string]>([
    ['destructive', { destructive: true }, {}, 'ask', 'destructive'],
    ['irreversible', { reversible: false }, { allow_non_reversible: false }, 'ask', 'non-reversible'],
    ['billable', { cost: { billable: true } }, { allow_billable: false }, 'ask', 'billable'],
    [
      'deleting',
      { filesystem: { delete: true } },
      { allow_filesystem_delete: false },
      'ask',
      'filesystem-delete',
    ],
    [
      'deleting named things',
      { deletes: ['branches'] },
      { allow_filesystem_delete: false },
      'ask',
      'filesystem-delete',
    ],
    ['dear', { cost: { estimate: 'high' } }, { max_cost_estimate: 'low' }, 'ask', 'cost-high'],
    ['on the network', { network: true }, { allow_network: false }, 'deny', 'network'],
    [
      'writing',
      { filesystem: { write: true } },
      { allow_filesystem_write: false },
      'deny',
      'filesystem-write',
    ],
    ['creating', { creates: ['files'] }, { allow_filesystem_write: false }, 'deny', 'filesystem-write'],
    ['asking for a password', { interactive: { stdin: 'password' } }, {}, 'deny', 'interactive'],
    ['prompting', { interactive: { prompts: true } }, {}, 'deny', 'interactive'],
    ['wanting a terminal', { interactive: { tty: true } }, {}, 'deny', 'interactive'],
  ])('%s', (_what, effects, rules, decision, reason) => {
    expect(decide({ ...harmless, ...effects }, parsePolicy(rules))).toEqual({ decision, reasons: [reason] })
    expect(decide(harmless, parsePolicy(rules)).decision).toBe('allow')
  })

  test('all reasons are given, and what is denied cannot be confirmed', () => {
    const effects: Effects = { ...harmless, destructive: true, reversible: false, network: true }
    expect(decide(effects, parsePolicy({ allow_non_reversible: false })).reasons).toEqual([
      'destructive',
      'non-reversible',
    ])
    expect(decide(effects, parsePolicy({ allow_network: false }))).toEqual({
      decision: 'deny',
      reasons: ['network'],
    })
  })

  test('what a tool does not declare it may do', () => {
    expect(decide(undefined, parsePolicy({}))).toEqual({
      decision: 'ask',
      reasons: ['destructive (not declared)'],
    })
    expect(decide({ destructive: false }, parsePolicy({ allow_network: false }))).toEqual({
      decision: 'deny',
      reasons: ['network (not declared)'],
    })
  })

  test('a policy without a person turns questions into refusals', () => {
    expect(decide({ destructive: true }, parsePolicy({ on_confirmation: 'deny' })).decision).toBe('deny')
  })
})

describe('Trust', () => {
  const policy = parsePolicy({ min_trust_level: 'community' })
  test.each<[TrustLevel | undefined, string]>([
    ['inferred', 'deny'],
    ['user', 'deny'],
    ['community', 'allow'],
    ['org', 'allow'],
    ['vendor', 'allow'],
    ['native', 'allow'],
    [undefined, 'allow'], // the author's own tool: nobody else vouches for it
  ])('%s: %s', (trust, decision) => {
    expect(decide(harmless, policy, { trust }).decision).toBe(decision)
  })

  test('too little of it is a reason of its own', () => {
    expect(decide(harmless, policy, { trust: 'user' }).reasons).toEqual(['low-trust'])
  })
})

test('a policy that is wrong says where, all at once', () => {
  expect(safeParsePolicy({ allow_network: 'no', redact: 'all', min_trust_level: 'me' })).toEqual({
    ok: false,
    problems: [
      { path: 'allow_network', message: 'must be true or false, got "no"' },
      {
        path: 'min_trust_level',
        message: 'must be one of inferred, user, community, org, vendor, native, got "me"',
      },
      { path: 'redact', message: 'must be one of declared, patterns, got "all"' },
    ],
  })
  expect(safeParsePolicy({ allow_netwrok: true, redact: 'all' })).toMatchObject({
    ok: false,
    problems: [{ path: 'redact' }, { path: 'allow_netwrok', unknownKey: true }],
  })
  expect(safeParsePolicy([])).toMatchObject({ ok: false })
  expect(safeParsePolicy(['allow_network'])).toEqual({
    ok: false,
    problems: [{ path: '', message: 'must be a mapping, got a list' }],
  })
  expect(safeParsePolicy({ 'x-mine': 1 })).toMatchObject({ ok: true })
})

test.each([
  ['allow_netwrok', 'allow_network'],
  ['allowNetwork', 'allow_network'],
  ['minTrustLevel', 'min_trust_level'],
])('a rule that nobody knows would protect nothing, so there is no policy with one: %s', (key, meant) => {
  expect(safeParsePolicy({ [key]: false })).toEqual({
    ok: false,
    problems: [
      {
        path: key,
        message: `there is no rule "${key}"; it would protect nothing`,
        hint: `Did you mean "${meant}"?`,
        unknownKey: true,
        nearest: meant,
      },
    ],
  })
})

test('a program that cannot use a policy with problems gets an error with all of them', () => {
  expect(() => parsePolicy({ allowNetwork: false, redact: 'all' })).toThrow(
    expect.objectContaining({
      code: 'ERR_EXECUTOR_POLICY',
      message: `The policy cannot be used:
redact: must be one of declared, patterns, got "all"
allowNetwork: there is no rule "allowNetwork"; it would protect nothing. Did you mean "allow_network"?`,
    }),
  )
})
