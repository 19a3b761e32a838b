import {
  type AtipEffects,
  type AtipTrust,
  type CostEstimate,
  statesNothing,
  type ToolCall,
  TRUST_LEVEL_ORDER,
  type TrustSource,
  trustOf,
} from '@delta/atip'
import type { Effects, PolicyRules } from '@delta/executor'
import { DEFAULT_RULES, decide } from '@delta/executor/internal'
import { AtipExecuteError } from './base-error.js'
import type { CommandMapping } from './mapping.js'

/** Why a person has to agree. `low-trust` is only ever a reason to refuse. */
export type ConfirmationReason =
  | 'destructive'
  | 'non-reversible'
  | 'billable'
  | 'low-trust'
  | 'filesystem-delete'
  | 'cost-high'

/** What may run. Leaving the whole object out allows everything; leaving a rule out gives its default. */
export interface ExecutionPolicy {
  /** Default false. */
  allowDestructive?: boolean | undefined
  /** Default true, as the following four. */
  allowNonReversible?: boolean | undefined
  allowBillable?: boolean | undefined
  allowNetwork?: boolean | undefined
  allowFilesystemWrite?: boolean | undefined
  allowFilesystemDelete?: boolean | undefined
  /** Default false. */
  allowInteractive?: boolean | undefined
  /** Default `inferred`: anyone. */
  minTrustLevel?: TrustSource | undefined
  /** Default `high`: any. */
  maxCostEstimate?: CostEstimate | undefined
  /** Asks a person; only `true` lets the call run. Without it, what needs one throws `RequiresConfirmationError`. */
  confirmationHandler?: ((context: ConfirmationContext) => Promise<boolean>) | undefined
}

/** What the person who is asked gets to see. */
export interface ConfirmationContext {
  /** The flat name. */
  toolName: string
  /** The whole command line, arguments included: exactly what will run. */
  command: string[]
  /** As the model sent them. */
  arguments: Record<string, unknown>
  reasons: ConfirmationReason[]
  /** Merged with those of its groups and its tool. */
  effects: AtipEffects
  /** Absent when the metadata does not say. */
  trust?: AtipTrust
}

/** Which rule of an `ExecutionPolicy` speaks against a call. */
export type PolicyViolationCode =
  | 'DESTRUCTIVE_BLOCKED'
  | 'NON_REVERSIBLE_BLOCKED'
  | 'BILLABLE_BLOCKED'
  | 'NETWORK_BLOCKED'
  | 'FILESYSTEM_WRITE_BLOCKED'
  | 'FILESYSTEM_DELETE_BLOCKED'
  | 'TRUST_INSUFFICIENT'
  | 'COST_EXCEEDED'
  | 'INTERACTIVE_BLOCKED'

/** One rule that speaks against a call. */
export interface PolicyViolation {
  code: PolicyViolationCode
  /** A sentence for people, which begins with the name of the command. */
  message: string
  /** Part of the interface; always `error`. */
  severity: 'error' | 'warning'
}

/** What a policy says to a call. */
export interface PolicyCheckResult {
  /** True when the call may run without asking anybody. */
  allowed: boolean
  /** True when everything that speaks against it is for a person to decide. */
  requiresConfirmation: boolean
  /** What to ask a person about: one for each violation that has a reason, in the same order. */
  reasons: ConfirmationReason[]
  /** Everything that speaks against it. */
  violations: PolicyViolation[]
}

interface RuleMeaning {
  code: PolicyViolationCode
  what: string
  /** The reason a person is given. */
  reason?: ConfirmationReason
  /** No person can allow it. */
  final?: true
}

const MEANING: Record<keyof PolicyRules, RuleMeaning> = {
  allowDestructive: { code: 'DESTRUCTIVE_BLOCKED', what: 'may destroy data', reason: 'destructive' },
  allowNonReversible: { code: 'NON_REVERSIBLE_BLOCKED', what: 'cannot be undone', reason: 'non-reversible' },
  allowBillable: { code: 'BILLABLE_BLOCKED', what: 'may cost money', reason: 'billable' },
  allowNetwork: { code: 'NETWORK_BLOCKED', what: 'may use the network', final: true },
  allowFilesystemWrite: { code: 'FILESYSTEM_WRITE_BLOCKED', what: 'may write files', final: true },
  allowFilesystemDelete: {
    code: 'FILESYSTEM_DELETE_BLOCKED',
    what: 'may delete files',
    reason: 'filesystem-delete',
  },
  allowInteractive: { code: 'INTERACTIVE_BLOCKED', what: 'asks questions while it runs', final: true },
  minTrustLevel: {
    code: 'TRUST_INSUFFICIENT',
    what: 'is not trusted enough',
    reason: 'low-trust',
    final: true,
  },
  maxCostEstimate: { code: 'COST_EXCEEDED', what: 'may cost more than the limit', reason: 'cost-high' },
}

const EVERYTHING: PolicyRules = { ...DEFAULT_RULES, allowDestructive: true, allowInteractive: true }

/**
 * Says whether a call may run. The judgement is `@delta/executor`'s, asked rule by rule, so that
 * every violation is named.
 */
export function checkPolicy(
  call: ToolCall,
  mapping: CommandMapping,
  policy: ExecutionPolicy | undefined,
): PolicyCheckResult {
  checkRules(policy)
  const broken = policy ? brokenRules(mapping, policy) : []
  const reasons = broken.flatMap(({ reason }) => reason ?? [])
  const because = statesNothing(mapping.effects) ? ' (it does not say what it does)' : ''
  const violations = broken.map(({ code, what }) => ({
    code,
    message: `${call.name} ${what}${because}.`,
    severity: 'error' as const,
  }))
  const requiresConfirmation = broken.length > 0 && broken.every((rule) => !rule.final)
  return { allowed: broken.length === 0, requiresConfirmation, reasons, violations }
}

function brokenRules({ effects, tool }: CommandMapping, policy: ExecutionPolicy): RuleMeaning[] {
  const declared = statesNothing(effects) ? {} : withoutGaps(effects)
  const trust = trustOf(tool)
  return (Object.keys(MEANING) as (keyof PolicyRules)[])
    .filter((rule) => {
      const rules = { ...EVERYTHING, [rule]: policy[rule] ?? DEFAULT_RULES[rule] }
      return decide(declared, { rules, onConfirmation: 'ask_human' }, { trust }).decision !== 'allow'
    })
    .map((rule) => MEANING[rule])
}

/**
 * The executor holds every undeclared effect against a command. This interface does so only for a
 * command that declares nothing at all; one that declares some effects is taken at its word.
 */
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

/** A misspelt rule, or one with a value that no rule has, would forbid nothing: a guard must not vanish by a mistake. */
export function checkRules(policy: ExecutionPolicy | undefined): void {
  for (const [rule, value] of Object.entries(policy ?? {})) {
    if (value === undefined || isRule(rule, value)) continue
    throw new AtipExecuteError(`The policy has no rule ${rule}: ${String(value)}.`, 'INVALID_CONFIG')
  }
}

function isRule(rule: string, value: unknown): boolean {
  if (rule === 'confirmationHandler') return typeof value === 'function'
  if (rule === 'maxCostEstimate') return ['free', 'low', 'medium', 'high'].some((cost) => cost === value)
  if (rule === 'minTrustLevel') return typeof value === 'string' && Object.hasOwn(TRUST_LEVEL_ORDER, value)
  return Object.hasOwn(DEFAULT_RULES, rule) && typeof value === 'boolean'
}
