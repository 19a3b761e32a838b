import * as z from 'zod/mini'

/** A value that is only read, so that one written with `as const` fits, too. */
export type Constant<Type> = Type extends object
  ? { readonly [Key in keyof Type]: Constant<Type[Key]> }
  : Type

/** In ATIP's words, least trusted first: a policy compares places in this list. */
export const TRUST_LEVELS = ['inferred', 'user', 'community', 'org', 'vendor', 'native'] as const
/** Cheapest first: a policy compares places in this list. */
export const COST_ESTIMATES = ['free', 'low', 'medium', 'high'] as const
/** How much a command expects on its standard input, least first. */
export const STDIN_USES = ['none', 'optional', 'required', 'password'] as const

/** Who vouches for what a tool says about itself, least first. */
export type TrustLevel = (typeof TRUST_LEVELS)[number]
/** How much a call costs, in its author's judgement. */
export type CostEstimate = (typeof COST_ESTIMATES)[number]

/** What a tool does to the world, in ATIP's words. All optional; absent means unknown, not safe. */
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
      z.strictObject({ stdin: z.optional(z.enum(STDIN_USES)), prompts: yesOrNo, tty: yesOrNo }),
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

/** Why a rule restricts a command: the one word for it in observations, questions and errors. */
export type PolicyReason =
  | 'destructive'
  | 'non-reversible'
  | 'billable'
  | 'network'
  | 'filesystem-write'
  | 'filesystem-delete'
  | 'interactive'
  | 'low-trust'
  | 'cost-high'

/** A rule that a command breaks. */
export interface BrokenRule {
  reason: PolicyReason
  /** The end of a sentence that begins with the name of the command. */
  says: string
  /** No person can allow it. */
  isFinal: boolean
  /** False where the command does not say whether it has the effect. */
  isDeclared: boolean
}

/**
 * The rules that a command breaks. It may have any effect it does not declare, except interaction: a command never gets a
 * terminal or open input.
 *
 * @param trust - Who vouches for the effects; undefined for the author's own tools, which need no trust.
 */
export function brokenRules(
  effects: Effects,
  rules: PolicyRules,
  trust: TrustLevel | undefined,
): BrokenRule[] {
  const judged = { ...effects, rules, trust }
  return (Object.keys(RULES) as (keyof PolicyRules)[]).flatMap((rule) => {
    const { reason, isFinal, says, breaks } = RULES[rule]
    const isBroken = rules[rule] !== true && breaks(judged)
    if (isBroken === false) return []
    const words = typeof says === 'string' ? says : says(judged)
    return { reason, isFinal, says: words, isDeclared: isBroken !== undefined }
  })
}

type Judged = Effects & { rules: PolicyRules; trust: TrustLevel | undefined }
type Words = string | ((judged: Judged) => string)
/** Undefined: the command does not declare it. Not asked where the rule is `true`. */
type Breaks = (judged: Judged) => boolean | undefined

const ask = (reason: PolicyReason, says: Words, breaks: Breaks) => ({ reason, says, breaks, isFinal: false })
const deny = (reason: PolicyReason, says: Words, breaks: Breaks) => ({ reason, says, breaks, isFinal: true })

/** For each rule, whether a person may allow what breaks it, the reason, what is said, and what breaks it. */
const RULES: Record<keyof PolicyRules, ReturnType<typeof ask>> = {
  allowDestructive: ask('destructive', 'may destroy data', ({ destructive }) => destructive),
  allowNonReversible: ask('non-reversible', 'cannot be undone', ({ reversible }) => not(reversible)),
  allowBillable: ask('billable', 'may cost money', ({ cost }) => cost?.billable),
  allowNetwork: deny('network', 'may use the network', ({ network }) => network),
  allowFilesystemWrite: deny('filesystem-write', 'may write files', writesFiles),
  allowFilesystemDelete: ask('filesystem-delete', 'may delete files', deletesFiles),
  allowInteractive: deny('interactive', 'asks questions while it runs', isInteractive),
  minTrustLevel: deny(
    'low-trust',
    ({ trust, rules }) => `is trusted as "${trust}", and at least "${rules.minTrustLevel}" is required`,
    ({ trust, rules }) =>
      trust !== undefined && TRUST_LEVELS.indexOf(trust) < TRUST_LEVELS.indexOf(rules.minTrustLevel),
  ),
  maxCostEstimate: ask(
    'cost-high',
    ({ cost, rules }) =>
      `may cost "${cost?.estimate ?? 'high'}", and the limit is "${rules.maxCostEstimate}"`,
    exceedsCost,
  ),
}

function not(declared: boolean | undefined): boolean | undefined {
  return declared === undefined ? undefined : !declared
}

function writesFiles({ filesystem, creates, modifies }: Effects): boolean | undefined {
  return creates?.length || modifies?.length ? true : filesystem?.write
}

function deletesFiles({ filesystem, deletes }: Effects): boolean | undefined {
  return deletes?.length ? true : filesystem?.delete
}

function exceedsCost({ cost, rules: { maxCostEstimate: limit } }: Judged): boolean | undefined {
  if (limit === 'high') return false
  return cost?.estimate && COST_ESTIMATES.indexOf(cost.estimate) > COST_ESTIMATES.indexOf(limit)
}

/** Whether a command waits for a person at the keyboard. */
export function isInteractive({ interactive }: Effects): boolean {
  const { stdin = 'none', prompts = false, tty = false } = interactive ?? {}
  return stdin === 'required' || stdin === 'password' || prompts || tty
}

/** Flags that answer the questions of a command beforehand. */
const ANSWERS = ['--yes', '--force', '-y']

/** The flag among those of a command that answers its questions beforehand. */
export function answerAmong(flags: readonly string[]): string | undefined {
  return ANSWERS.find((flag) => flags.includes(flag))
}

/** The effects of a call that gives these flags: one of `--yes`, `--force` and `-y` leaves no question to ask. */
export function withAnswers<Said extends Effects>(effects: Said, flags: readonly string[]): Said {
  if (!effects.interactive || answerAmong(flags) === undefined) return effects
  return { ...effects, interactive: { ...effects.interactive, prompts: false } }
}
