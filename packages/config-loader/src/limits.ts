import { timeInWords } from '@delta/model/internal'
import * as z from 'zod/mini'

/** What a run may spend. Absent: without limit. */
export interface Limits {
  /** Tokens of all requests, of the run and its sub-agents: read, written, reasoning. */
  tokens?: number
  /** US dollars, of the run and its sub-agents. */
  cost?: number
  /** Time of an engine at work: without waiting for people, and for a server that is busy. */
  wallTimeMs?: number
}

const WALL_TIME = /^\d+(?:\.\d+)?[smh]$/
const ABOVE_0 = 'above 0'

/** `limits` of `agent.yaml`. */
export const limitsSchema = z.lazy(() =>
  z
    .strictObject({
      tokens: z.optional(
        z
          .int()
          .check(
            z.gt(0, ABOVE_0),
            z.describe('Tokens of all requests, of the run and its sub-agents: read, written and reasoning.'),
          ),
      ),
      cost: z.optional(
        z
          .number()
          .check(
            z.gt(0, ABOVE_0),
            z.describe('US dollars, of the run and its sub-agents. The model needs a price.'),
          ),
      ),
      wall_time: z.optional(wallTime()),
    })
    .check(z.describe('What the run may spend before it ends as FAILED. Default: no limit')),
)

/** A number gets the advice to write a unit, so the kind of the value is checked with its form. */
function wallTime(): z.ZodMiniType<string, string> {
  const written = z.unknown().check(
    z.refine((value) => faultOfTime(value) === undefined, { error: ({ input }) => faultOfTime(input) }),
    z.meta({ type: 'string', pattern: WALL_TIME.source }),
    z.describe(
      'How long engines work on the run, as 90s, 30m or 4h. Waiting for people or for a busy server does not count.',
    ),
  )
  return written as z.ZodMiniType<unknown, unknown> as z.ZodMiniType<string, string>
}

/** What is wrong with a time, as a sentence without its place. */
function faultOfTime(value: unknown): string | undefined {
  const written = String(value)
  if (/^\d+(\.\d+)?$/.test(written)) return `give a unit: ${written}s, ${written}m or ${written}h`
  if (typeof value !== 'string' || !WALL_TIME.test(value)) return 'must be a time such as 90s, 30m or 4h'
  return timeInWords(value) > 0 ? undefined : `must be ${ABOVE_0}`
}

/** The limits of a block that `limitsSchema` parsed. */
export function limitsOf({ tokens, cost, wall_time }: z.infer<typeof limitsSchema>): Limits {
  return {
    ...(tokens !== undefined && { tokens }),
    ...(cost !== undefined && { cost }),
    ...(wall_time !== undefined && { wallTimeMs: timeInWords(wall_time) }),
  }
}

/** The limits in an agent's `snapshot.config`, as a journal keeps it. What is not one counts as none. */
export function limitsIn(config: unknown): Limits {
  const { tokens, cost, wall_time } = Object(Object(config).limits) as Record<string, unknown>
  return limitsOf({
    ...(typeof tokens === 'number' && { tokens }),
    ...(typeof cost === 'number' && { cost }),
    ...(typeof wall_time === 'string' && { wall_time }),
  })
}

/** A time as `wall_time` takes it: `90s`, `30m`, `4h`. */
export function wallTimeInWords(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds % 3600 === 0) return `${seconds / 3600}h`
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`
}
