import { COST_ESTIMATES, TRUST_SOURCES } from './metadata.js'
import type { Policy } from './policy.js'
import { PROVIDERS } from './providers.js'
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
  requireThat(isObject(options), `${of}: the argument options`, 'an object with options, or nothing')
}

export function checkFlag(of: string, name: string, value: unknown): void {
  requireThat(value === undefined || typeof value === 'boolean', `${of}: the option ${name}`, 'true or false')
}

export function checkText(of: string, what: string, value: unknown): asserts value is string {
  requireThat(typeof value === 'string', `${of}: ${what}`, 'a text')
}

export function checkProvider(of: string, provider: unknown): void {
  checkKnownProvider(`${of}: the provider`, provider)
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

export const checkCost = checkOneOf(COST_ESTIMATES)
export const checkTrust = checkOneOf(TRUST_SOURCES)
const checkKnownProvider = checkOneOf(PROVIDERS)

function checkOneOf(known: readonly string[]): (of: string, value: unknown) => void {
  const values: ReadonlySet<unknown> = new Set(known)
  const quoted = known.map((value) => `'${value}'`)
  const wanted = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return (of, value) => requireThat(values.has(value), of, wanted)
}

const ALLOWANCES = [
  'allowDestructive',
  'allowNonReversible',
  'allowBillable',
  'allowNetwork',
  'allowFilesystemWrite',
  'allowFilesystemDelete',
] as const satisfies (keyof Policy)[]

const RULE_NAMES: readonly string[] = [...ALLOWANCES, 'maxCostEstimate', 'minTrustLevel']
/** What a policy of `@delta/atip-execute` may say besides. */
const FURTHER_NAMES: readonly string[] = ['allowInteractive', 'confirmationHandler']

/** A rule that nobody knows, or that says what no rule can say, would forbid nothing: a guard must not vanish by a mistake. */
export function checkPolicy(of: string, policy: Policy): void {
  requireThat(isObject(policy), `${of}: the policy`, 'an object with rules, {} for none')
  for (const [rule, value] of Object.entries(policy)) {
    const isKnown = value === undefined || RULE_NAMES.includes(rule) || FURTHER_NAMES.includes(rule)
    requireThat(isKnown, `${of}: the rule ${rule}`, `only rules that there are: ${RULE_NAMES.join(', ')}`)
  }
  for (const rule of ALLOWANCES) checkFlag(of, rule, policy[rule])
  const { maxCostEstimate, minTrustLevel } = policy
  if (maxCostEstimate !== undefined) checkCost(`${of}: the option maxCostEstimate`, maxCostEstimate)
  if (minTrustLevel !== undefined) checkTrust(`${of}: the option minTrustLevel`, minTrustLevel)
}
