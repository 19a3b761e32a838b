import type { Effects, PolicyRules } from '@delta/executor'
import { COST_ESTIMATES, DEFAULT_RULES, decide, TRUST_LEVELS } from '@delta/executor/internal'
import * as z from 'zod/mini'
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

const allowed = z.optional(z.boolean())

/** The last two are rules of `@delta/atip-execute`, whose policies are accepted, too. */
const policySchema = z.strictObject({
  allowDestructive: allowed,
  allowNonReversible: allowed,
  allowBillable: allowed,
  allowNetwork: allowed,
  allowFilesystemWrite: allowed,
  allowFilesystemDelete: allowed,
  maxCostEstimate: z.optional(z.enum(COST_ESTIMATES)),
  minTrustLevel: z.optional(z.enum(TRUST_LEVELS)),
  allowInteractive: allowed,
  confirmationHandler: z.optional(z.custom((value) => typeof value === 'function')),
})

/** A misspelt rule, or one with a value that it cannot have, would forbid nothing: a guard must not vanish by a mistake. */
export function policyProblem(policy: object): string | undefined {
  const [issue] = policySchema.safeParse(policy).error?.issues ?? []
  if (issue === undefined) return undefined
  const rule = String(issue.code === 'unrecognized_keys' ? issue.keys[0] : issue.path[0])
  return `The policy has no rule ${rule}: ${String(Object.entries(policy).find(([name]) => name === rule)?.[1])}.`
}

interface RuleMeaning {
  code: ViolationCode
  severity: 'error' | 'warning'
  /** The end of a sentence that begins with the name of the command. */
  says(leaf: AtipLeaf, policy: Policy): string
}

const MEANING: Record<keyof Policy, RuleMeaning> = {
  allowDestructive: { code: 'DESTRUCTIVE_OPERATION', severity: 'error', says: () => 'may destroy data' },
  allowNonReversible: { code: 'NON_REVERSIBLE_OPERATION', severity: 'error', says: () => 'cannot be undone' },
  allowBillable: { code: 'BILLABLE_OPERATION', severity: 'error', says: () => 'may cost money' },
  allowNetwork: { code: 'NETWORK_OPERATION', severity: 'warning', says: () => 'may use the network' },
  allowFilesystemWrite: { code: 'FILESYSTEM_WRITE', severity: 'warning', says: () => 'may write files' },
  allowFilesystemDelete: { code: 'FILESYSTEM_DELETE', severity: 'warning', says: () => 'may delete files' },
  maxCostEstimate: {
    code: 'COST_EXCEEDS_LIMIT',
    severity: 'error',
    says: ({ effects }, { maxCostEstimate }) =>
      `may cost "${effects.cost?.estimate ?? 'high'}", and the limit is "${maxCostEstimate}"`,
  },
  minTrustLevel: {
    code: 'TRUST_BELOW_THRESHOLD',
    severity: 'error',
    says: ({ tool }, { minTrustLevel }) =>
      `is trusted as "${trustOf(tool)}", and at least "${minTrustLevel}" is required`,
  },
}

function violationsOf(leaf: AtipLeaf, policy: Policy): PolicyViolation[] {
  const { tool, path: commandPath, name: toolName } = leaf
  const isUnknown = statesNothing(leaf.effects)
  // Of files, this interface counts what `filesystem` says.
  const effects: AtipEffects = isUnknown ? {} : { ...leaf.effects, creates: [], modifies: [], deletes: [] }
  // Forbidding destruction forbids the irreversible part of it, too.
  const irreversible = policy.allowDestructive === false && effects.destructive === true
  const rules = irreversible ? { ...policy, allowNonReversible: false } : policy
  const broken = brokenRules(effects, trustOf(tool), rules, OPEN_RULES)
  return (Object.keys(MEANING) as (keyof Policy)[])
    .filter((rule) => broken.includes(rule))
    .map((rule) => {
      const { code, severity, says } = MEANING[rule]
      const because = isUnknown && rule !== 'minTrustLevel' ? ' (it does not say what it does)' : ''
      const message = `${toolName} ${says(leaf, policy)}${because}.`
      return { code, message, severity, toolName, commandPath }
    })
}

function unknownCommand(toolName: string): PolicyViolation {
  const message = `There is no command "${toolName}".`
  return { code: 'UNKNOWN_COMMAND', message, severity: 'error', toolName }
}

const OPEN_RULES: PolicyRules = { ...DEFAULT_RULES, allowDestructive: true, allowInteractive: true }

/**
 * The rules that effects break. `@delta/executor` judges them rule by rule, every other rule open, so that each is named.
 *
 * It holds every undeclared effect against a command. The ATIP interfaces do so only for a command that declares nothing
 * at all; one that declares some effects declares the rest harmless.
 */
export function brokenRules(
  effects: AtipEffects,
  trust: TrustSource,
  policy: { [Rule in keyof PolicyRules]?: PolicyRules[Rule] | undefined },
  defaults: PolicyRules,
): (keyof PolicyRules)[] {
  const declared = statesNothing(effects) ? {} : withoutGaps(effects)
  return (Object.keys(OPEN_RULES) as (keyof PolicyRules)[]).filter((rule) => {
    const only = { ...OPEN_RULES, [rule]: policy[rule] ?? defaults[rule] }
    return decide(declared, { rules: only, onConfirmation: 'ask_human' }, { trust }).decision !== 'allow'
  })
}

function withoutGaps(effects: AtipEffects): Effects {
  return {
    ...effects,
    destructive: effects.destructive ?? false,
    reversible: effects.reversible ?? true,
    network: effects.network ?? false,
    filesystem: { write: false, delete: false, ...effects.filesystem },
    cost: { billable: false, estimate: 'free', ...effects.cost },
  }
}
