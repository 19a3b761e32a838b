import { type ToolCall, trustOf } from '@delta/atip'
import {
  InsufficientTrustError,
  InteractiveNotSupportedError,
  PolicyViolationError,
  RequiresConfirmationError,
} from './errors.js'
import type { CommandMapping } from './mapping.js'
import {
  type ConfirmationContext,
  checkPolicy,
  type ExecutionPolicy,
  type PolicyCheckResult,
} from './policy.js'
import { givenArguments } from './validate-call.js'

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
  const said: unknown = await policy.confirmationHandler(context)
  // the text `no` must not pass for a yes
  if (said !== true) {
    throw new PolicyViolationError(
      `The person asked did not agree to ${call.name}. Nothing was run.`,
      call.name,
      violations,
    )
  }
}

function refusal(
  call: ToolCall,
  { tool, effects }: CommandMapping,
  policy: ExecutionPolicy | undefined,
  violations: PolicyCheckResult['violations'],
) {
  const codes = violations.map(({ code }) => code)
  if (codes.includes('TRUST_INSUFFICIENT')) {
    return new InsufficientTrustError(call.name, trustOf(tool), policy?.minTrustLevel ?? 'inferred')
  }
  if (codes.includes('INTERACTIVE_BLOCKED')) {
    return new InteractiveNotSupportedError(call.name, effects.interactive ?? {})
  }
  const reasons = violations.map(({ message }) => message).join(' ')
  return new PolicyViolationError(
    `The policy does not allow ${call.name}: ${reasons} Nothing was run.`,
    call.name,
    violations,
  )
}
