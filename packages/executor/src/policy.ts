import type { Problem } from '@delta/tool-expander'
import * as z from 'zod/mini'
import { ExecutorError } from './errors.js'
import { fitShape, formatPath, inCamelCase, type ShapeProblem } from './fit-shape.js'

/** A value that is only read: one that was written with `as const` is taken, too. */
export type Constant<Type> = Type extends object
  ? { readonly [Key in keyof Type]: Constant<Type[Key]> }
  : Type

const yesOrNo = z.optional(z.boolean())
const texts = z.optional(z.array(z.string()))

/** In ATIP's words, least first: a policy compares places in this list. */
export const TRUST_LEVELS = ['inferred', 'user', 'community', 'org', 'vendor', 'native'] as const
/** Cheapest first: a policy compares places in this list. */
export const COST_ESTIMATES = ['free', 'low', 'medium', 'high'] as const

/** Who vouches for what a tool says about itself, least first. */
export type TrustLevel = (typeof TRUST_LEVELS)[number]
/** How much a call costs, in its author's judgement. */
export type CostEstimate = (typeof COST_ESTIMATES)[number]

/**
 * What a tool does to the world, in ATIP's words. All optional; absent means unknown, not safe.
 */
export const effectsSchema = z.strictObject({
  filesystem: z.optional(z.strictObject({ read: yesOrNo, write: yesOrNo, delete: yesOrNo, paths: texts })),
  network: yesOrNo,
  subprocess: yesOrNo,
  idempotent: yesOrNo,
  reversible: yesOrNo,
  destructive: yesOrNo,
  creates: texts,
  modifies: texts,
  deletes: texts,
  interactive: z.optional(
    z.strictObject({
      stdin: z.optional(z.enum(['none', 'optional', 'required', 'password'])),
      prompts: yesOrNo,
      tty: yesOrNo,
    }),
  ),
  cost: z.optional(z.strictObject({ estimate: z.optional(z.enum(COST_ESTIMATES)), billable: yesOrNo })),
  duration: z.optional(z.strictObject({ typical: z.optional(z.string()), timeout: z.optional(z.string()) })),
})

/** What a tool says of itself; the checked value, or one written out in a program. */
export type Effects = Constant<z.infer<typeof effectsSchema>>

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
  const hasRules =
    on_confirmation !== undefined || Object.keys(written).length > 0 || (redact ?? tools) === undefined
  const policy: Policy = {
    onConfirmation: on_confirmation ?? 'ask_human',
    ...(redact && { redact }),
    ...(tools && { tools }),
  }
  if (hasRules) policy.rules = { ...DEFAULT_RULES, ...inCamelCase(written) }
  return { ok: true, policy }
}

function asRule({ path, message, ...rest }: ShapeProblem): Problem {
  const strange = `there is no rule "${path.at(-1)}"; it would protect nothing`
  return { path: formatPath(path), message: rest.unknownKey ? strange : message, ...rest }
}

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
