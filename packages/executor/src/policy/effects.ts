import * as z from 'zod/mini'
import type { Constant } from '../constant.js'

const yesOrNo = z.optional(z.boolean('expected true or false'))
const texts = z.optional(z.array(z.string('expected a text'), 'expected a list'))
const oneOf = <const Values extends readonly string[]>(values: Values) =>
  z.optional(z.enum(values, `expected one of ${values.join(', ')}`))
const object = <Shape extends z.core.$ZodLooseShape>(shape: Shape, example: string) =>
  z.optional(z.object(shape, `expected a mapping, such as { ${example} }`))

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
export const effectsSchema = z.object(
  {
    filesystem: object({ read: yesOrNo, write: yesOrNo, delete: yesOrNo, paths: texts }, 'write: false'),
    network: yesOrNo,
    subprocess: yesOrNo,
    idempotent: yesOrNo,
    reversible: yesOrNo,
    destructive: yesOrNo,
    creates: texts,
    modifies: texts,
    deletes: texts,
    interactive: object(
      { stdin: oneOf(['none', 'optional', 'required', 'password']), prompts: yesOrNo, tty: yesOrNo },
      'prompts: false, tty: false',
    ),
    cost: object({ estimate: oneOf(COST_ESTIMATES), billable: yesOrNo }, 'billable: false'),
    duration: object({ typical: z.optional(z.string()), timeout: z.optional(z.string()) }, 'typical: 2s'),
  },
  'expected a mapping, such as { network: false, destructive: true }',
)

/** What a tool says of itself; the checked value, or one written out in a program. */
export type Effects = Constant<z.infer<typeof effectsSchema>>
