import { fitShape, formatPath, inCamelCase, type ShapeProblem } from '@delta/settings'
import type { Problem } from '@delta/tool-expander'
import * as z from 'zod/mini'
import { ExecutorError, lineOf } from './errors.js'

/** A value that is only read, so that one written with `as const` fits, too. */
export type Constant<Type> = Type extends object
  ? { readonly [Key in keyof Type]: Constant<Type[Key]> }
  : Type

/** In ATIP's words, least trusted first: a policy compares places in this list. */
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
export const effectsSchema = /* @__PURE__ */ z.lazy(() => {
  const yesOrNo = z.optional(z.boolean())
  const texts = z.optional(z.array(z.string()))
  return z.strictObject({
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
    duration: z.optional(
      z.strictObject({ typical: z.optional(z.string()), timeout: z.optional(z.string()) }),
    ),
  })
})

/** The effects a tool declares. */
export type Effects = Constant<z.infer<typeof effectsSchema>>

/**
 * What commands may do without asking, in ATIP's words and with its defaults.
 *
 * A person cannot confirm a call that breaks `allowNetwork`, `allowFilesystemWrite`, `allowInteractive` or `minTrustLevel`.
 */
export interface PolicyRules {
  allowDestructive: boolean
  allowNonReversible: boolean
  allowBillable: boolean
  allowNetwork: boolean
  allowFilesystemWrite: boolean
  allowFilesystemDelete: boolean
  allowInteractive: boolean
  /** The lowest level whose tools may run; the agent's author's own tools always may. */
  minTrustLevel: TrustLevel
  /** The highest estimate that needs no confirmation. */
  maxCostEstimate: CostEstimate
}

/** `policy:` of an agent, read. */
export interface Policy {
  /** Undefined: every effect is allowed. */
  rules?: PolicyRules
  /** The author's lasting consent, by the names of tools: a call that a person would be asked about is allowed. */
  tools?: Readonly<Record<string, 'allow'>>
  /** What happens to a call that needs a person's confirmation. */
  onConfirmation: 'ask_human' | 'deny'
  /**
   * `patterns`: text that looks like a secret is redacted from observations, not only known secrets.
   * Undefined: `patterns` for imported tools, `declared` for the author's own.
   */
  redact?: 'declared' | 'patterns'
}

/** The rules that a policy does not state, and those of imported tools without a policy. */
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

/** `policy:` as it is written. Exported for its JSON Schema; `safeParsePolicy` reads a value. */
export const policySchema = /* @__PURE__ */ z.lazy(() => {
  const yesOrNo = z.optional(z.boolean())
  return z.strictObject({
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
})

/** A policy, or every problem; the problem of an unknown rule has `unknownKey`. */
export type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; problems: Problem[] }

/**
 * Reads `policy:` of an agent. As soon as one rule is written, the others have ATIP's defaults (destructive and interactive
 * commands are not allowed); a policy that only has `redact` or `tools` has no rules. An unknown rule is a problem, because
 * the rule that was meant would protect nothing. Keys that begin with `x-` are the author's own.
 *
 * @throws {ExecutorError} `ERR_EXECUTOR_POLICY`: names every problem.
 *
 * @example
 * const policy = parsePolicy({ allow_network: false, on_confirmation: 'deny' })
 */
export function parsePolicy(input: unknown): Policy {
  const parsed = safeParsePolicy(input)
  if (parsed.ok) return parsed.policy
  const message = ['The policy cannot be used:', ...parsed.problems.map(lineOf)].join('\n')
  throw new ExecutorError('ERR_EXECUTOR_POLICY', message, parsed.problems)
}

/** The same, with the problems as a result. */
export function safeParsePolicy(input: unknown): ParsedPolicy {
  const { value, problems } = fitShape(policySchema, input)
  if (value === undefined || problems.length > 0) return { ok: false, problems: problems.map(asRule) }
  const { on_confirmation, redact, tools, ...written } = value
  const hasRules =
    on_confirmation !== undefined || Object.keys(written).length > 0 || (redact ?? tools) === undefined
  const policy: Policy = {
    onConfirmation: on_confirmation ?? 'ask_human',
    ...(redact && { redact }),
    ...(tools && { tools }),
    ...(hasRules && { rules: { ...DEFAULT_RULES, ...inCamelCase(written) } }),
  }
  return { ok: true, policy }
}

function asRule({ path, message, ...rest }: ShapeProblem): Problem {
  const unknown = `there is no rule "${path.at(-1)}"; it would protect nothing`
  return { path: formatPath(path), message: rest.unknownKey ? unknown : message, ...rest }
}

/** What a policy decides about a call. */
export interface PolicyDecision {
  /** `ask`: runs only after a person has confirmed it. `deny`: a person cannot confirm it. */
  decision: 'allow' | 'ask' | 'deny'
  /** `destructive`, `network`, …; with ` (not declared)` where the tool does not say. */
  reasons: string[]
}

/**
 * Decides whether a command with these effects may run.
 *
 * A tool may have any effect it does not declare, except interaction: a command never gets a terminal or open input.
 * Network, file writes, interaction and too little trust are denied; a person can confirm the other effects.
 *
 * Without rules, the author's own tools may do everything, and `DEFAULT_RULES` hold for imported tools.
 *
 * @param options.trust - Who vouches for the effects; absent for the author's own tools.
 * @param options.tool - The tool's name, for consent under `tools`.
 * @throws {ExecutorError} `ERR_EXECUTOR_USAGE`: the policy was not read by `parsePolicy`.
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

/** A policy as a person writes it (`{ allow_network: false }`) would forbid nothing, so it is refused. */
function checkPolicy(policy: Policy | undefined): void {
  if (Object.keys(policy ?? {}).every((key) => MEMBERS.includes(key))) return
  const message = 'The policy was not read.\nPass parsePolicy({ allow_network: false }), or nothing.'
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

/** Undefined `applies`: the tool does not declare it. */
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

const ANSWERS = new Set(['--yes', '--force', '-y'])

/** A call that gives `--yes`, `--force` or `-y` answers the command's questions beforehand, so it asks none. */
export function withAnswers<Said extends Effects>(effects: Said, flags: readonly string[]): Said {
  if (!effects.interactive || !flags.some((flag) => ANSWERS.has(flag))) return effects
  return { ...effects, interactive: { ...effects.interactive, prompts: false } }
}

function rank<Level extends string>(levels: readonly Level[], level: Level): number {
  return levels.indexOf(level)
}
