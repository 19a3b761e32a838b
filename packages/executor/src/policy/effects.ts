import * as z from 'zod/mini'
import type { Constant } from '../constant.js'

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
