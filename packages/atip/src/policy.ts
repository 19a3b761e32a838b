import type { PolicyRules } from '@delta/tool-expander'
import {
  type BrokenRule,
  brokenRules,
  COST_ESTIMATES,
  DEFAULT_RULES,
  type PolicyReason,
  TRUST_LEVELS,
} from '@delta/tool-expander/internal'
import { statesNothing, trustOf } from './effects.js'
import { AtipUsageError } from './errors.js'
import { type AtipLeaf, indexLeaves } from './leaves.js'
import type { AtipEffects, AtipTool, CostEstimate, TrustSource } from './metadata.js'

/** What may be called. A rule left out allows. A command that states no effects at all counts as having every one. */
export interface Policy {
  allowDestructive?: boolean | undefined
  /** What cannot be undone. `allowDestructive: false` breaks this rule, too, for destructive commands. */
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

/** Which rule of a `Policy` a command breaks; `UNKNOWN_COMMAND`: no command has this name. */
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

/** A policy for the commands of some tools; see `createValidator`. */
export interface Validator {
  /** Checks one call by its flat name and returns every violation, not only the first. */
  validate(toolName: string, args: Record<string, unknown>): ValidationResult
}

/**
 * Says which rules of a policy a call would break.
 *
 * @throws {AtipUsageError} A rule of the policy is unknown, or has a value that it cannot have.
 * @throws {AtipValidationError} A tool is invalid, or two different commands have one flat name.
 * @example
 * createValidator([gh], { allowDestructive: false }).validate('gh_repo_delete', {}).valid // false
 */
export function createValidator(tools: readonly AtipTool[], policy: Policy): Validator {
  const problem = policyProblem(policy)
  if (problem !== undefined) throw new AtipUsageError(problem)
  const leaves = indexLeaves(tools, 'last')
  return {
    validate(toolName) {
      const leaf = leaves.get(toolName)
      const violations = leaf ? violationsOf(leaf, policy) : [unknownCommand(toolName)]
      return { valid: violations.length === 0, violations }
    },
  }
}

/**
 * A misspelt rule, or one with a value that it cannot have, would forbid nothing: a guard must not vanish by a mistake. The
 * rules are those of `@delta/atip-execute`, too.
 */
export function policyProblem(policy: object): string | undefined {
  const wrong = Object.entries(policy).find(([rule, value]) => value !== undefined && !isRule(rule, value))
  return wrong && `The policy has no rule ${wrong[0]}: ${String(wrong[1])}.`
}

const CHOICES: Partial<Record<string, readonly unknown[]>> = {
  minTrustLevel: TRUST_LEVELS,
  maxCostEstimate: COST_ESTIMATES,
}

function isRule(rule: string, value: unknown): boolean {
  if (rule === 'confirmationHandler') return typeof value === 'function'
  return Object.hasOwn(DEFAULT_RULES, rule) && (CHOICES[rule] ?? [true, false]).includes(value)
}

/** What the interface calls each reason. Interaction breaks none of its rules. */
const CODES: Record<Exclude<PolicyReason, 'interactive'>, [ViolationCode, PolicyViolation['severity']]> = {
  destructive: ['DESTRUCTIVE_OPERATION', 'error'],
  'non-reversible': ['NON_REVERSIBLE_OPERATION', 'error'],
  billable: ['BILLABLE_OPERATION', 'error'],
  network: ['NETWORK_OPERATION', 'warning'],
  'filesystem-write': ['FILESYSTEM_WRITE', 'warning'],
  'filesystem-delete': ['FILESYSTEM_DELETE', 'warning'],
  'cost-high': ['COST_EXCEEDS_LIMIT', 'error'],
  'low-trust': ['TRUST_BELOW_THRESHOLD', 'error'],
}

function violationsOf({ name: toolName, path, effects, tool }: AtipLeaf, policy: Policy): PolicyViolation[] {
  // This interface counts no files but those of `filesystem`. Forbidding destruction forbids what is irreversible in it.
  const counted = statesNothing(effects) ? {} : { ...effects, creates: [], modifies: [], deletes: [] }
  const irreversible = policy.allowDestructive === false && effects.destructive === true
  const rules = irreversible ? { ...policy, allowNonReversible: false } : policy
  return rulesBroken(counted, trustOf(tool), rules, OPEN_RULES).flatMap(({ reason, message }) => {
    if (reason === 'interactive') return []
    const [code, severity] = CODES[reason]
    return { code, message: `${toolName} ${message}`, severity, toolName, commandPath: path }
  })
}

function unknownCommand(toolName: string): PolicyViolation {
  const message = `There is no command "${toolName}".`
  return { code: 'UNKNOWN_COMMAND', message, severity: 'error', toolName }
}

const OPEN_RULES: PolicyRules = { ...DEFAULT_RULES, allowDestructive: true, allowInteractive: true }

/**
 * The rules that a command breaks, with the end of a sentence about each.
 *
 * An agent holds every undeclared effect against a tool. The ATIP interfaces do so only for a command that declares nothing
 * at all: one that declares some effects declares the rest harmless.
 *
 * @param defaults - The rules that the policy does not state.
 */
export function rulesBroken(
  effects: AtipEffects,
  trust: TrustSource,
  policy: { [Rule in keyof PolicyRules]?: PolicyRules[Rule] | undefined },
  defaults: PolicyRules,
): (Pick<BrokenRule, 'reason' | 'isFinal'> & { message: string })[] {
  const isUnknown = statesNothing(effects)
  const stated = Object.entries(policy).filter(([, value]) => value !== undefined)
  return brokenRules(effects, { ...defaults, ...Object.fromEntries(stated) }, trust)
    .filter(({ isDeclared }) => isDeclared || isUnknown)
    .map(({ reason, isFinal, isDeclared, says }) => {
      return { reason, isFinal, message: `${says}${isDeclared ? '' : ' (it does not say what it does)'}.` }
    })
}
