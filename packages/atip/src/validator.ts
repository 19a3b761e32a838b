import { indexLeaves } from './compile.js'
import { costRank, statesNothing } from './effects.js'
import type { AtipLeaf } from './leaves.js'
import type { AtipEffects, AtipTool, CostEstimate, TrustSource } from './metadata.js'
import { TRUST_LEVEL_ORDER, trustOf } from './trust.js'

/** What may be called. Everything left out is allowed. */
export interface Policy {
  allowDestructive?: boolean
  allowNonReversible?: boolean
  allowBillable?: boolean
  allowNetwork?: boolean
  allowFilesystemWrite?: boolean
  allowFilesystemDelete?: boolean
  maxCostEstimate?: CostEstimate
  minTrustLevel?: TrustSource
}

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

export interface PolicyViolation {
  code: ViolationCode
  message: string
  severity: 'error' | 'warning'
  toolName: string
  commandPath?: string[]
}

export interface ValidationResult {
  valid: boolean
  violations: PolicyViolation[]
}

export interface Validator {
  /** Checks one call by its flat name and returns every violation, not just the first. */
  validate(toolName: string, args: Record<string, unknown>): ValidationResult
}

interface Rule {
  code: ViolationCode
  severity: 'error' | 'warning'
  what: string
  /** Whether the policy forbids it for a command with these effects. */
  forbidden(policy: Policy, effects: AtipEffects): boolean
  applies(effects: AtipEffects): boolean
}

const RULES: readonly Rule[] = [
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

/** Builds the lookup once; each `validate` is then a map access and a handful of comparisons. */
export function createValidator(tools: readonly AtipTool[], policy: Policy): Validator {
  const leaves = indexLeaves(tools, 'last')
  return {
    validate(toolName) {
      const leaf = leaves.get(toolName)
      const violations = leaf ? violationsOf(leaf, policy) : [unknownCommand(toolName)]
      return { valid: violations.length === 0, violations }
    },
  }
}

function violationsOf(leaf: AtipLeaf, policy: Policy): PolicyViolation[] {
  const unknown = statesNothing(leaf.effects)
  const because = unknown ? ' (it does not say what it does)' : ''
  const found = RULES.filter(
    (rule) => rule.forbidden(policy, leaf.effects) && (unknown || rule.applies(leaf.effects)),
  ).map((rule) => violation(leaf, rule.code, `${leaf.name} ${rule.what}${because}.`, rule.severity))
  return [...found, ...costViolations(leaf, policy, unknown), ...trustViolations(leaf, policy)]
}

function costViolations(leaf: AtipLeaf, { maxCostEstimate }: Policy, unknown: boolean): PolicyViolation[] {
  const estimate = leaf.effects.cost?.estimate ?? (unknown ? 'high' : 'free')
  if (maxCostEstimate === undefined || costRank(estimate) <= costRank(maxCostEstimate)) return []
  const message = `${leaf.name} may cost "${estimate}", and the limit is "${maxCostEstimate}".`
  return [violation(leaf, 'COST_EXCEEDS_LIMIT', message)]
}

function trustViolations(leaf: AtipLeaf, { minTrustLevel }: Policy): PolicyViolation[] {
  const trust = trustOf(leaf.tool)
  if (minTrustLevel === undefined || TRUST_LEVEL_ORDER[trust] >= TRUST_LEVEL_ORDER[minTrustLevel]) return []
  const message = `${leaf.tool.name} is trusted as "${trust}", and at least "${minTrustLevel}" is required.`
  return [violation(leaf, 'TRUST_BELOW_THRESHOLD', message)]
}

function violation(
  leaf: AtipLeaf,
  code: ViolationCode,
  message: string,
  severity: 'error' | 'warning' = 'error',
): PolicyViolation {
  return { code, message, severity, toolName: leaf.name, commandPath: leaf.path }
}

function unknownCommand(toolName: string): PolicyViolation {
  return {
    code: 'UNKNOWN_COMMAND',
    message: `There is no command "${toolName}".`,
    severity: 'error',
    toolName,
  }
}
