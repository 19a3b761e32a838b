import type { Problem } from '@delta/tool-expander'
import * as z from 'zod/mini'
import { fitShape, formatPath, type ShapeProblem } from '../fit-shape.js'
import { COST_ESTIMATES, type CostEstimate, TRUST_LEVELS, type TrustLevel } from './effects.js'

/**
 * What commands may do without asking. ATIP's words and defaults.
 *
 * What is against `allowNetwork`, `allowFilesystemWrite`, `allowInteractive` or `minTrustLevel` no person can confirm.
 */
export interface PolicyRules {
  allowDestructive: boolean
  allowNonReversible: boolean
  allowBillable: boolean
  allowNetwork: boolean
  allowFilesystemWrite: boolean
  allowFilesystemDelete: boolean
  allowInteractive: boolean
  /** The lowest whose tools may run; tools of the agent's author always may. */
  minTrustLevel: TrustLevel
  /** The highest that needs no person. */
  maxCostEstimate: CostEstimate
}

/** `policy:` of an agent, read. */
export interface Policy {
  /** Undefined: every effect is allowed. */
  rules?: PolicyRules
  /** The author's lasting consent by the names of tools: what a person would be asked is allowed. */
  tools?: Readonly<Record<string, 'allow'>>
  /** What becomes of a call that wants a person's confirmation. */
  onConfirmation: 'ask_human' | 'deny'
  /**
   * `patterns`: text that looks like a secret is taken out of observations, not only known secrets.
   * Undefined: `patterns` for imported tools, `declared` for the author's own.
   */
  redact?: 'declared' | 'patterns'
}

/** What holds where a policy does not say otherwise, and for imported tools without any policy. */
export const DEFAULT_RULES: PolicyRules = {
  allowDestructive: false,
  allowNonReversible: true,
  allowBillable: true,
  allowNetwork: true,
  allowFilesystemWrite: true,
  allowFilesystemDelete: true,
  allowInteractive: false,
  minTrustLevel: 'inferred',
  maxCostEstimate: 'high',
}

const yesOrNo = z.optional(z.boolean())
/** `policy:` as it is written. Exported for its JSON Schema; `parsePolicy` is what reads a value. */
export const policySchema = z.strictObject({
  allow_destructive: yesOrNo,
  allow_non_reversible: yesOrNo,
  allow_billable: yesOrNo,
  allow_network: yesOrNo,
  allow_filesystem_write: yesOrNo,
  allow_filesystem_delete: yesOrNo,
  allow_interactive: yesOrNo,
  min_trust_level: z.optional(z.enum(TRUST_LEVELS)),
  max_cost_estimate: z.optional(z.enum(COST_ESTIMATES)),
  on_confirmation: z.optional(z.enum(['ask_human', 'deny'])),
  redact: z.optional(z.enum(['declared', 'patterns'])),
  tools: z.optional(z.record(z.string(), z.literal('allow'))),
})

/** A policy, or every problem; a rule with a name nobody knows is one that has `unknownKey`. */
export type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; problems: Problem[] }

/**
 * Reads `policy:` of an agent. As soon as one rule is written, the others have ATIP's defaults
 * (destructive and interactive commands are not allowed); a policy that only says what to
 * redact, or which tools need no person, has no rules. A key nobody knows is a problem, for the rule that was meant would protect nothing; keys that
 * begin with `x-` are the author's own.
 */
export function parsePolicy(input: unknown): ParsedPolicy {
  const { value, problems } = fitShape(policySchema, input)
  if (value === undefined || problems.length > 0) return { ok: false, problems: problems.map(asRule) }
  const { on_confirmation, redact, tools, ...written } = value
  const rules = {
    allowDestructive: written.allow_destructive,
    allowNonReversible: written.allow_non_reversible,
    allowBillable: written.allow_billable,
    allowNetwork: written.allow_network,
    allowFilesystemWrite: written.allow_filesystem_write,
    allowFilesystemDelete: written.allow_filesystem_delete,
    allowInteractive: written.allow_interactive,
    minTrustLevel: written.min_trust_level,
    maxCostEstimate: written.max_cost_estimate,
  }
  const hasRules =
    on_confirmation !== undefined || Object.keys(written).length > 0 || (redact ?? tools) === undefined
  const policy: Policy = {
    onConfirmation: on_confirmation ?? 'ask_human',
    ...(redact && { redact }),
    ...(tools && { tools }),
  }
  if (hasRules) policy.rules = { ...DEFAULT_RULES, ...definedOnly(rules) }
  return { ok: true, policy }
}

function asRule({ path, message, ...rest }: ShapeProblem): Problem {
  const strange = `there is no rule "${path.at(-1)}"; it would protect nothing`
  return { path: formatPath(path), message: rest.unknownKey ? strange : message, ...rest }
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

function definedOnly<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
