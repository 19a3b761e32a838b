import type { Problem } from '@delta/tool-expander'
import * as z from 'zod/mini'
import { nearestNames } from '../nearest.js'
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

const yesOrNo = z.optional(z.boolean('expected true or false'))
/** `policy:` as it is written. Exported for its JSON Schema; `parsePolicy` is what reads a value. */
export const policySchema = z.object(
  {
    allow_destructive: yesOrNo,
    allow_non_reversible: yesOrNo,
    allow_billable: yesOrNo,
    allow_network: yesOrNo,
    allow_filesystem_write: yesOrNo,
    allow_filesystem_delete: yesOrNo,
    allow_interactive: yesOrNo,
    min_trust_level: z.optional(z.enum(TRUST_LEVELS, `expected one of ${TRUST_LEVELS.join(', ')}`)),
    max_cost_estimate: z.optional(z.enum(COST_ESTIMATES, `expected one of ${COST_ESTIMATES.join(', ')}`)),
    on_confirmation: z.optional(z.enum(['ask_human', 'deny'], 'expected ask_human or deny')),
    redact: z.optional(z.enum(['declared', 'patterns'], 'expected declared or patterns')),
    tools: z.optional(
      z.record(
        z.string(),
        z.literal('allow', 'expected allow'),
        'expected a mapping, such as { delete_file: allow }',
      ),
    ),
  },
  'expected a mapping, such as { allow_destructive: false }',
)

/** The keys of `policy:`, for suggestions when one is misspelt. */
export const POLICY_KEYS: readonly string[] = Object.keys(policySchema.shape)

/** A policy, or every problem. `unknownKeys` are problems, too: they are given apart so that a caller can suggest others. */
export type ParsedPolicy =
  | { ok: true; policy: Policy; unknownKeys: string[] }
  | { ok: false; problems: Problem[]; unknownKeys: string[] }

/**
 * Reads `policy:` of an agent. As soon as one rule is written, the others have ATIP's defaults
 * (destructive and interactive commands are not allowed); a policy that only says what to
 * redact, or which tools need no person, has no rules. A key nobody knows is a problem, for the rule that was meant would protect nothing; keys that
 * begin with `x-` are the author's own.
 */
export function parsePolicy(input: unknown): ParsedPolicy {
  const parsed = policySchema.safeParse(input)
  const unknown = unknownKeys(input)
  if (!parsed.success || unknown.length > 0) {
    const issues = parsed.error?.issues ?? []
    const problems = issues.map(({ path, message }) => ({ path: path.join('.'), message }))
    return { ok: false, problems: [...problems, ...unknown.map(unknownRule)], unknownKeys: unknown }
  }
  const { on_confirmation, redact, tools, ...written } = parsed.data
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
  return { ok: true, policy, unknownKeys: [] }
}

function unknownRule(key: string): Problem {
  const [meant] = nearestNames(snakeCase(key), POLICY_KEYS)
  const hint = meant === undefined ? `The rules are ${POLICY_KEYS.join(', ')}.` : `Did you mean "${meant}"?`
  return { path: key, message: `there is no rule "${key}"; it would protect nothing`, hint }
}

/** The rules of `PolicyRules` and of ATIP are the same ones, spelt the other way. */
function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function unknownKeys(input: unknown): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return []
  return Object.keys(input).filter((key) => !POLICY_KEYS.includes(key) && !key.startsWith('x-'))
}

type Defined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

function definedOnly<T extends object>(values: T): Defined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Defined<T>
}
