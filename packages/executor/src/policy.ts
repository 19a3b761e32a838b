import { fitShape, formatPath, inCamelCase, type ShapeProblem } from '@delta/settings'
import type { Effects, PolicyRules, Problem, TrustLevel } from '@delta/tool-expander'
import {
  type BrokenRule,
  brokenRules,
  COST_ESTIMATES,
  DEFAULT_RULES,
  TRUST_LEVELS,
} from '@delta/tool-expander/internal'
import * as z from 'zod/mini'
import { ExecutorError, lineOf } from './errors.js'

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
 * Network, file writes, interaction and too little trust are denied; a person can confirm the other effects. `brokenRules` says
 * what counts where a tool declares nothing.
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
  const broken = rules ? brokenRules(effects ?? {}, rules, trust) : []
  const final = broken.filter(({ isFinal }) => isFinal)
  if (final.length > 0) return { decision: 'deny', reasons: final.map(inWords) }
  const isAllowed = tool !== undefined && Object.hasOwn(policy?.tools ?? {}, tool)
  if (broken.length === 0 || isAllowed) return { decision: 'allow', reasons: [] }
  return { decision: policy?.onConfirmation === 'deny' ? 'deny' : 'ask', reasons: broken.map(inWords) }
}

function inWords({ reason, isDeclared }: BrokenRule): string {
  return isDeclared ? reason : `${reason} (not declared)`
}

const MEMBERS: readonly string[] = ['rules', 'onConfirmation', 'redact', 'tools']

/** A policy as a person writes it (`{ allow_network: false }`) would forbid nothing, so it is refused. */
function checkPolicy(policy: Policy | undefined): void {
  if (Object.keys(policy ?? {}).every((key) => MEMBERS.includes(key))) return
  const message = 'The policy was not read.\nPass parsePolicy({ allow_network: false }), or nothing.'
  throw new ExecutorError('ERR_EXECUTOR_USAGE', message)
}
