import type { AtipEffects, CostEstimate, ToolCall, TrustSource } from '@delta/atip'
import { policyProblem, rulesBroken, trustOf } from '@delta/atip/internal'
import { DEFAULT_RULES, type PolicyReason, withAnswers } from '@delta/tool-expander/internal'
import { argumentOf, type CommandMapping } from './command.js'
import {
  AtipExecuteError,
  type ConfirmationContext,
  type ConfirmationReason,
  InsufficientTrustError,
  InteractiveNotSupportedError,
  type PolicyViolation,
  type PolicyViolationCode,
  PolicyViolationError,
  RequiresConfirmationError,
} from './errors.js'
import { givenArguments } from './validate-call.js'

/** How much each source is trusted; a higher number is more. */
export const TRUST_LEVEL_ORDER: Record<TrustSource, number> = {
  native: 6,
  vendor: 5,
  org: 4,
  community: 3,
  user: 2,
  inferred: 1,
}

/** What may run. Leaving the whole object out allows everything; leaving a rule out gives its default. */
export interface ExecutionPolicy {
  /** Default false. */
  allowDestructive?: boolean | undefined
  /** Default true, like the following four. */
  allowNonReversible?: boolean | undefined
  allowBillable?: boolean | undefined
  allowNetwork?: boolean | undefined
  allowFilesystemWrite?: boolean | undefined
  allowFilesystemDelete?: boolean | undefined
  /** Default false. */
  allowInteractive?: boolean | undefined
  /** Default `inferred`, the lowest. */
  minTrustLevel?: TrustSource | undefined
  /** Default `high`, the highest. */
  maxCostEstimate?: CostEstimate | undefined
  /** Asks a person; only `true` lets the call run. Without it, a call that needs a person throws `RequiresConfirmationError`. */
  confirmationHandler?: ((context: ConfirmationContext) => Promise<boolean>) | undefined
}

/** What a policy says to a call. */
export interface PolicyCheckResult {
  /** True when the call may run without asking a person. */
  allowed: boolean
  /** True when a person may allow everything that the call breaks. */
  requiresConfirmation: boolean
  /** What to ask a person about: one for each violation that has a reason, in the same order. */
  reasons: ConfirmationReason[]
  /** Every rule that the call breaks. */
  violations: PolicyViolation[]
}

/** What the interface calls each reason. */
const CODES: Record<PolicyReason, PolicyViolationCode> = {
  destructive: 'DESTRUCTIVE_BLOCKED',
  'non-reversible': 'NON_REVERSIBLE_BLOCKED',
  billable: 'BILLABLE_BLOCKED',
  network: 'NETWORK_BLOCKED',
  'filesystem-write': 'FILESYSTEM_WRITE_BLOCKED',
  'filesystem-delete': 'FILESYSTEM_DELETE_BLOCKED',
  interactive: 'INTERACTIVE_BLOCKED',
  'low-trust': 'TRUST_INSUFFICIENT',
  'cost-high': 'COST_EXCEEDED',
}

/**
 * Says whether a call may run, and names every rule that it breaks.
 *
 * @throws {AtipExecuteError} `INVALID_CONFIG`: a rule of the policy is unknown, or has a value that it cannot have.
 * @example
 * checkPolicy(call, mapping, { allowNetwork: false }).violations // [{ code: 'NETWORK_BLOCKED', … }]
 */
export function checkPolicy(
  call: ToolCall,
  mapping: CommandMapping,
  policy: ExecutionPolicy | undefined,
): PolicyCheckResult {
  assertRules(policy)
  const effects = effectsOf(call, mapping)
  const broken = policy ? rulesBroken(effects, trustOf(mapping.tool), policy, DEFAULT_RULES) : []
  return {
    allowed: broken.length === 0,
    requiresConfirmation: broken.length > 0 && broken.every(({ isFinal }) => !isFinal),
    reasons: broken.map(({ reason }) => reason).filter(isConfirmationReason),
    violations: broken.map(({ reason, message }) => {
      return { code: CODES[reason], message: `${call.name} ${message}`, severity: 'error' }
    }),
  }
}

/** The interface has no reason for what is refused anyway, but for too little trust. */
function isConfirmationReason(reason: PolicyReason): reason is ConfirmationReason {
  return reason !== 'network' && reason !== 'filesystem-write' && reason !== 'interactive'
}

function effectsOf(call: ToolCall, { effects, metadata }: CommandMapping): AtipEffects {
  const given = givenArguments(call) ?? {}
  const flags = (metadata.options ?? []).flatMap((option) =>
    option.type === 'boolean' && String(argumentOf(given, option)) === 'true' ? option.flags : [],
  )
  return withAnswers(effects, flags)
}

/** @throws {AtipExecuteError} `INVALID_CONFIG` */
export function assertRules(policy: ExecutionPolicy | undefined): void {
  const problem = policyProblem(policy ?? {})
  if (problem !== undefined) throw new AtipExecuteError(problem, 'INVALID_CONFIG')
}

/** Throws the most telling error for what may not run, and asks a person where one can decide. */
export async function assertAllowed(
  call: ToolCall,
  mapping: CommandMapping,
  command: string[],
  policy: ExecutionPolicy | undefined,
): Promise<void> {
  const { allowed, requiresConfirmation, reasons, violations } = checkPolicy(call, mapping, policy)
  if (allowed) return
  if (!requiresConfirmation) throw refusal(call, mapping, policy, violations)

  const { effects, tool } = mapping
  const context: ConfirmationContext = {
    toolName: call.name,
    command,
    arguments: givenArguments(call) ?? {},
    reasons,
    effects,
    ...(tool.trust && { trust: tool.trust }),
  }
  if (!policy?.confirmationHandler) throw new RequiresConfirmationError(context)
  const answer: unknown = await policy.confirmationHandler(context)
  if (answer === true) return // the string `no` must not pass for a yes
  const message = `The person asked did not agree to ${call.name}. Nothing was run.`
  throw new PolicyViolationError(message, call.name, violations)
}

function refusal(
  call: ToolCall,
  { tool, effects }: CommandMapping,
  policy: ExecutionPolicy | undefined,
  violations: PolicyViolation[],
): AtipExecuteError {
  const codes = violations.map(({ code }) => code)
  if (codes.includes('TRUST_INSUFFICIENT')) {
    return new InsufficientTrustError(call.name, trustOf(tool), policy?.minTrustLevel ?? 'inferred')
  }
  if (codes.includes('INTERACTIVE_BLOCKED')) {
    return new InteractiveNotSupportedError(call.name, effects.interactive ?? {})
  }
  const reasons = violations.map(({ message }) => message).join(' ')
  const message = `The policy does not allow ${call.name}: ${reasons} Nothing was run.`
  return new PolicyViolationError(message, call.name, violations)
}
