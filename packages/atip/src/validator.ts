import { indexLeaves } from './compile.js'
import { costRank, statesNothing } from './effects.js'
import type { AtipLeaf } from './leaves.js'
import type { AtipTool } from './metadata.js'
import { checkPolicy, type Policy, RULES, type ViolationCode } from './policy.js'
import { TRUST_LEVEL_ORDER, trustOf } from './trust.js'

/** One rule that a command breaks. */
export interface PolicyViolation {
  code: ViolationCode
  /** A sentence for people. */
  message: string
  /** `warning` for the network and for writing and deleting files; the call is not valid all the same. */
  severity: 'error' | 'warning'
  /** The flat name of the command. */
  toolName: string
  /** The keys that lead to it, without the tool's name; absent when there is no such command. */
  commandPath?: string[]
}

/** Whether a call may be made. */
export interface ValidationResult {
  /** False with any violation, be it a warning. */
  valid: boolean
  violations: PolicyViolation[]
}

/** A policy, held against the commands of some tools; see `createValidator`. */
export interface Validator {
  /** Checks one call by its flat name and returns every violation, not just the first. */
  validate(toolName: string, args: Record<string, unknown>): ValidationResult
}

/** Builds the lookup once; each `validate` is then a map access and a handful of comparisons. */
export function createValidator(tools: readonly AtipTool[], policy: Policy): Validator {
  checkPolicy(policy)
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
