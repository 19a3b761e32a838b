import { ExecutorError } from '../errors.js'
import { COST_ESTIMATES, type Effects, TRUST_LEVELS, type TrustLevel } from './effects.js'
import { DEFAULT_RULES, type Policy, type PolicyRules } from './policy.js'

/** What a policy says to a call. */
export interface PolicyDecision {
  /** `ask`: only after a person has confirmed it. What is denied no person can confirm. */
  decision: 'allow' | 'ask' | 'deny'
  /** `destructive`, `network`, …; with ` (not declared)` where the tool does not say. */
  reasons: string[]
}

/**
 * Decides whether a command with these effects may run.
 *
 * An effect the tool does not declare counts as one it may have: where a rule restricts it, the
 * call is not simply allowed. (A command is never given a terminal or open input, so undeclared
 * interaction cannot happen and is not held against it.) Network, file writes, interaction and
 * too little trust are denied and cannot be confirmed; the rest is for a person to confirm.
 *
 * Without rules everything is allowed to the author's own tools; imported ones come from
 * somebody else and are held to `DEFAULT_RULES`.
 *
 * @param options.trust - Who vouches for the effects; absent for tools the agent's author wrote.
 * @param options.tool - Its name: one that the policy allows under `tools` needs no person.
 */
export function decide(
  effects: Effects | undefined,
  policy: Policy | undefined,
  options: { trust?: TrustLevel | undefined; tool?: string | undefined } = {},
): PolicyDecision {
  checkPolicy(policy)
  const { trust, tool } = options
  const rules = policy?.rules ?? (trust === undefined ? undefined : DEFAULT_RULES)
  if (!rules) return { decision: 'allow', reasons: [] }
  const denied = deniedEffects(effects ?? {}, rules, trust)
  if (denied.length > 0) return { decision: 'deny', reasons: denied }
  const confirmable = confirmableEffects(effects ?? {}, rules)
  const isAllowed = tool !== undefined && Object.hasOwn(policy?.tools ?? {}, tool)
  if (confirmable.length === 0 || isAllowed) return { decision: 'allow', reasons: [] }
  return { decision: policy?.onConfirmation === 'deny' ? 'deny' : 'ask', reasons: confirmable }
}

const MEMBERS: readonly string[] = ['rules', 'onConfirmation', 'redact', 'tools']

/**
 * A policy as a person writes it (`{ allow_network: false }`) has none of the members that are looked at here, and would
 * forbid nothing: a guard must not vanish by such a mistake.
 */
function checkPolicy(policy: Policy | undefined): void {
  if (Object.keys(policy ?? {}).every((key) => MEMBERS.includes(key))) return
  const message =
    'The policy was not read.\nPass the policy of parsePolicy({ allow_network: false }), or nothing.'
  throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
}

function deniedEffects(effects: Effects, rules: PolicyRules, trust: TrustLevel | undefined): string[] {
  const tooLittleTrust =
    trust !== undefined && rank(TRUST_LEVELS, trust) < rank(TRUST_LEVELS, rules.minTrustLevel)
  return [
    ...restricted('network', rules.allowNetwork, effects.network),
    ...restricted('filesystem-write', rules.allowFilesystemWrite, writesFiles(effects)),
    ...restricted('interactive', rules.allowInteractive, isInteractive(effects)),
    ...(tooLittleTrust ? ['low-trust'] : []),
  ]
}

function confirmableEffects(effects: Effects, rules: PolicyRules): string[] {
  const reversible = effects.reversible === undefined ? undefined : !effects.reversible
  const deletes = effects.deletes?.length ? true : effects.filesystem?.delete
  return [
    ...restricted('destructive', rules.allowDestructive, effects.destructive),
    ...restricted('non-reversible', rules.allowNonReversible, reversible),
    ...restricted('billable', rules.allowBillable, effects.cost?.billable),
    ...restricted('filesystem-delete', rules.allowFilesystemDelete, deletes),
    ...restricted('cost-high', rules.maxCostEstimate === 'high', exceedsCost(effects, rules)),
  ]
}

/** Undefined `applies` means that nobody knows. */
function restricted(reason: string, allowed: boolean, applies: boolean | undefined): string[] {
  if (allowed || applies === false) return []
  return [applies === undefined ? `${reason} (not declared)` : reason]
}

function writesFiles({ filesystem, creates, modifies }: Effects): boolean | undefined {
  return creates?.length || modifies?.length ? true : filesystem?.write
}

function isInteractive({ interactive }: Effects): boolean {
  const { stdin = 'none', prompts = false, tty = false } = interactive ?? {}
  return stdin === 'required' || stdin === 'password' || prompts || tty
}

function exceedsCost({ cost }: Effects, rules: PolicyRules): boolean | undefined {
  if (cost?.estimate === undefined) return undefined
  return rank(COST_ESTIMATES, cost.estimate) > rank(COST_ESTIMATES, rules.maxCostEstimate)
}

function rank<Level extends string>(levels: readonly Level[], level: Level): number {
  return levels.indexOf(level)
}
