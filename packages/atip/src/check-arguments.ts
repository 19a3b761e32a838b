import type { Policy } from './policy.js'
import { isObject } from './shape.js'
import { requireThat } from './usage.js'

/** What more than one function is given. `of` names the function. */

export function checkTools(of: string, tools: unknown): void {
  requireThat(
    Array.isArray(tools),
    `${of}: the list of tools`,
    'a list of ATIP metadata, as loadAtip reads it',
  )
}

export function checkOptions(of: string, options: unknown): void {
  requireThat(isObject(options), `${of}: what stands for its options`, 'an object with options, or nothing')
}

export function checkFlag(of: string, name: string, value: unknown): void {
  requireThat(value === undefined || typeof value === 'boolean', `${of}: the option ${name}`, 'true or false')
}

export function checkText(of: string, what: string, value: unknown): asserts value is string {
  requireThat(typeof value === 'string', `${of}: ${what}`, 'a text')
}

export function checkProvider(of: string, provider: unknown): void {
  const isKnown = provider === 'openai' || provider === 'gemini' || provider === 'anthropic'
  requireThat(isKnown, `${of}: the provider`, "'openai', 'gemini' or 'anthropic'")
}

export function checkParameter(of: string, parameter: unknown): void {
  requireThat(isObject(parameter), `${of}: the parameter`, 'an argument or option of ATIP metadata')
}

export function checkEffects(of: string, what: string, effects: unknown): void {
  requireThat(isObject(effects), `${of}: ${what}`, 'effects of ATIP metadata, {} for unknown ones')
}

export function checkPatterns(of: string, patterns: unknown): void {
  const isList = Array.isArray(patterns) && patterns.every((pattern) => pattern instanceof RegExp)
  requireThat(isList, of, 'a list of regular expressions')
}

export function checkLength(of: string, length: unknown): void {
  requireThat(typeof length === 'number' && length >= 0, of, 'a number of characters, 0 or more')
}

const COSTS: readonly unknown[] = ['free', 'low', 'medium', 'high']

export function checkCost(of: string, estimate: unknown): void {
  requireThat(COSTS.includes(estimate), of, "'free', 'low', 'medium' or 'high'")
}

const TRUST: readonly unknown[] = ['native', 'vendor', 'org', 'community', 'user', 'inferred']

export function checkTrust(of: string, trust: unknown): void {
  requireThat(TRUST.includes(trust), of, "'native', 'vendor', 'org', 'community', 'user' or 'inferred'")
}

const ALLOWANCES = [
  'allowDestructive',
  'allowNonReversible',
  'allowBillable',
  'allowNetwork',
  'allowFilesystemWrite',
  'allowFilesystemDelete',
] as const satisfies (keyof Policy)[]

/** Every rule there is, and what a policy of `@delta/atip-execute` may say besides. */
const RULE_NAMES: readonly string[] = [
  ...ALLOWANCES,
  ...['maxCostEstimate', 'minTrustLevel', 'allowInteractive', 'confirmationHandler'],
]

/** A rule that nobody knows, or that says what no rule can say, would forbid nothing: a guard must not vanish by a mistake. */
export function checkPolicy(of: string, policy: Policy): void {
  requireThat(isObject(policy), `${of}: the policy`, 'an object with rules, {} for none')
  for (const [rule, value] of Object.entries(policy)) {
    const isKnown = value === undefined || RULE_NAMES.includes(rule)
    requireThat(
      isKnown,
      `${of}: the rule ${rule}`,
      `only rules that there are: ${RULE_NAMES.slice(0, -2).join(', ')}`,
    )
  }
  for (const rule of ALLOWANCES) checkFlag(of, rule, policy[rule])
  const { maxCostEstimate, minTrustLevel } = policy
  if (maxCostEstimate !== undefined) checkCost(`${of}: the option maxCostEstimate`, maxCostEstimate)
  if (minTrustLevel !== undefined) checkTrust(`${of}: the option minTrustLevel`, minTrustLevel)
}
