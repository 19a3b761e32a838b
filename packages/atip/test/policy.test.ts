import { describe, expect, test } from 'vitest'
import { createValidator, generateSafetyPrompt, type Policy } from '../src/index.js'
import { box } from './helpers.js'

const tool = box({
  wipe: { description: 'Wipe it', effects: { destructive: true, reversible: false, network: true } },
  look: {
    description: 'Look inside',
    effects: { destructive: false, network: false, cost: { estimate: 'low' } },
  },
  mystery: { description: 'Who knows' },
  write: {
    description: 'Write',
    effects: { filesystem: { write: true, delete: true }, cost: { billable: true } },
  },
})

function codes(name: string, policy: Policy): string[] {
  return createValidator([tool], policy)
    .validate(name, {})
    .violations.map(({ code }) => code)
}

describe('createValidator', () => {
  test('an empty policy allows everything', () => {
    expect(codes('box_wipe', {})).toEqual([])
    expect(codes('box_mystery', {})).toEqual([])
  })

  test('forbidding destruction forbids what cannot be undone in it', () => {
    expect(createValidator([tool], { allowDestructive: false }).validate('box_wipe', {})).toEqual({
      valid: false,
      violations: [
        {
          code: 'DESTRUCTIVE_OPERATION',
          message: 'box_wipe may destroy data.',
          severity: 'error',
          toolName: 'box_wipe',
          commandPath: ['wipe'],
        },
        expect.objectContaining({ code: 'NON_REVERSIBLE_OPERATION', severity: 'error' }),
      ],
    })
  })

  test.each<[string, Policy, string]>([
    ['box_wipe', { allowNonReversible: false }, 'NON_REVERSIBLE_OPERATION'],
    ['box_wipe', { allowNetwork: false }, 'NETWORK_OPERATION'],
    ['box_write', { allowFilesystemWrite: false }, 'FILESYSTEM_WRITE'],
    ['box_write', { allowFilesystemDelete: false }, 'FILESYSTEM_DELETE'],
    ['box_write', { allowBillable: false }, 'BILLABLE_OPERATION'],
    ['box_look', { maxCostEstimate: 'free' }, 'COST_EXCEEDS_LIMIT'],
    ['box_look', { minTrustLevel: 'org' }, 'TRUST_BELOW_THRESHOLD'],
    ['box_nothing', {}, 'UNKNOWN_COMMAND'],
    ['box_constructor', {}, 'UNKNOWN_COMMAND'],
  ])('%s under %o is a %s', (name, policy, code) => {
    expect(codes(name, policy)).toEqual([code])
  })

  test('a command that states no effects passes no rule', () => {
    expect(
      codes('box_mystery', {
        allowDestructive: false,
        allowNetwork: false,
        allowFilesystemWrite: false,
        maxCostEstimate: 'medium',
      }),
    ).toEqual(['DESTRUCTIVE_OPERATION', 'NETWORK_OPERATION', 'FILESYSTEM_WRITE', 'COST_EXCEEDS_LIMIT'])
  })

  test('metadata that does not say who wrote it is trusted least', () => {
    const native = box({ look: { description: 'Look', effects: {} } }, { trust: { source: 'native' } })
    expect(createValidator([native], { minTrustLevel: 'org' }).validate('box_look', {}).valid).toBe(true)
    expect(codes('box_look', { minTrustLevel: 'inferred' })).toEqual([])
    expect(codes('box_look', { minTrustLevel: 'user' })).toEqual(['TRUST_BELOW_THRESHOLD'])
  })
})

describe('generateSafetyPrompt', () => {
  test('lists each danger with the commands it concerns', () => {
    expect(generateSafetyPrompt([tool])).toBe(
      [
        '## Tool Safety Summary',
        '',
        '### Destructive Operations',
        'These commands permanently destroy data. Always confirm with the user before you call them:',
        '- `box_wipe`: Wipe it',
        '',
        '### Non-Reversible Operations',
        'What these commands do cannot be undone:',
        '- `box_wipe`: Wipe it',
        '',
        '### Billable Operations',
        'These commands cost money:',
        '- `box_write`: Write',
        '',
        '### Network Operations',
        'These commands use the network:',
        '- `box_wipe`: Wipe it',
      ].join('\n'),
    )
  })

  test('is empty when there is nothing to warn of', () => {
    expect(generateSafetyPrompt([])).toBe('')
    expect(
      generateSafetyPrompt([box({ look: { description: 'Look', effects: { idempotent: true } } })]),
    ).toBe('')
  })

  test('has sections for repeating and for waiting at the keyboard', () => {
    const prompt = generateSafetyPrompt([
      box({
        add: { description: 'Add', effects: { idempotent: false } },
        edit: { description: 'Edit', effects: { interactive: { tty: true } } },
      }),
    ])
    expect(prompt).toContain('### Non-Idempotent Operations')
    expect(prompt).toContain('### Interactive Operations')
  })
})

test.each([
  ['allow_network', false],
  ['allowNetwork', 'false'],
  ['minTrustLevel', 'orgs'],
  ['maxCostEstimate', 0],
])('a rule that would forbid nothing is refused by name: %s: %j', (rule, value) => {
  expect(() => createValidator([], { [rule]: value })).toThrow(`The policy has no rule ${rule}: ${value}.`)
})
