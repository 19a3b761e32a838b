import { AtipUsageError } from './errors.js'
import {
  type AtipEffects,
  COST_ESTIMATES,
  type CostEstimate,
  TRUST_SOURCES,
  type TrustSource,
} from './metadata.js'

/** What may be called. Everything left out is allowed. A command that states no effects at all counts as having every one. */
export interface Policy {
  allowDestructive?: boolean | undefined
  /** What cannot be undone. `allowDestructive: false` breaks this rule, too, for what is destructive besides. */
  allowNonReversible?: boolean | undefined
  allowBillable?: boolean | undefined
  allowNetwork?: boolean | undefined
  allowFilesystemWrite?: boolean | undefined
  allowFilesystemDelete?: boolean | undefined
  /** The highest that is allowed. */
  maxCostEstimate?: CostEstimate | undefined
  /** The lowest that is allowed. */
  minTrustLevel?: TrustSource | undefined
}

/** Which rule of a `Policy` a command breaks; `UNKNOWN_COMMAND`: there is none of this name. */
export type ViolationCode =
  | 'DESTRUCTIVE_OPERATION'
  | 'NON_REVERSIBLE_OPERATION'
  | 'BILLABLE_OPERATION'
  | 'NETWORK_OPERATION'
  | 'FILESYSTEM_WRITE'
  | 'FILESYSTEM_DELETE'
  | 'COST_EXCEEDS_LIMIT'
  | 'TRUST_BELOW_THRESHOLD'
  | 'UNKNOWN_COMMAND'

interface Rule {
  code: ViolationCode
  severity: 'error' | 'warning'
  what: string
  /** Whether the policy forbids it for a command with these effects. */
  forbidden(policy: Policy, effects: AtipEffects): boolean
  applies(effects: AtipEffects): boolean
}

/** One for each effect that a policy can forbid; cost and trust have a scale, and are compared in validator.ts. */
export const RULES: readonly Rule[] = [
  {
    code: 'DESTRUCTIVE_OPERATION',
    severity: 'error',
    what: 'may destroy data',
    forbidden: (policy) => policy.allowDestructive === false,
    applies: (effects) => effects.destructive === true,
  },
  {
    code: 'NON_REVERSIBLE_OPERATION',
    severity: 'error',
    what: 'cannot be undone',
    // Forbidding destruction forbids the irreversible part of it too.
    forbidden: (policy, effects) =>
      policy.allowNonReversible === false ||
      (policy.allowDestructive === false && effects.destructive === true),
    applies: (effects) => effects.reversible === false,
  },
  {
    code: 'BILLABLE_OPERATION',
    severity: 'error',
    what: 'may cost money',
    forbidden: (policy) => policy.allowBillable === false,
    applies: (effects) => effects.cost?.billable === true,
  },
  {
    code: 'NETWORK_OPERATION',
    severity: 'warning',
    what: 'may use the network',
    forbidden: (policy) => policy.allowNetwork === false,
    applies: (effects) => effects.network === true,
  },
  {
    code: 'FILESYSTEM_WRITE',
    severity: 'warning',
    what: 'may write files',
    forbidden: (policy) => policy.allowFilesystemWrite === false,
    applies: (effects) => effects.filesystem?.write === true,
  },
  {
    code: 'FILESYSTEM_DELETE',
    severity: 'warning',
    what: 'may delete files',
    forbidden: (policy) => policy.allowFilesystemDelete === false,
    applies: (effects) => effects.filesystem?.delete === true,
  },
]

/** What each rule can say. The last two are rules of `@delta/atip-execute`, whose policies may be passed, too. */
const VALUES: Readonly<Record<string, readonly unknown[] | undefined>> = {
  allowDestructive: [true, false],
  allowNonReversible: [true, false],
  allowBillable: [true, false],
  allowNetwork: [true, false],
  allowFilesystemWrite: [true, false],
  allowFilesystemDelete: [true, false],
  maxCostEstimate: COST_ESTIMATES,
  minTrustLevel: TRUST_SOURCES,
  allowInteractive: undefined,
  confirmationHandler: undefined,
}

/** A misspelt rule, or one with a value that no rule has, would forbid nothing: a guard must not vanish by a mistake. */
export function checkPolicy(policy: Policy): void {
  for (const [rule, value] of Object.entries(policy)) {
    if (value === undefined) continue
    const isKnown = Object.hasOwn(VALUES, rule) && (VALUES[rule]?.includes(value) ?? true)
    if (isKnown) continue
    throw new AtipUsageError(`The policy has no rule ${rule}: ${String(value)}.`)
  }
}
