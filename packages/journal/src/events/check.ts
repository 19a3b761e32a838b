import type * as z from 'zod/mini'
import type { StoredEvent } from './event.js'
import { eventSchemas } from './event-schemas.js'

type KnownType = keyof typeof eventSchemas

/** v1.1's names for ENGINE_START and ENGINE_END: known, and not to be passed on under these names. */
const OLD_TYPES: readonly string[] = ['RUN_START', 'RUN_END']

/** True when a parsed line is an event as this version writes it, or one of a type it does not know. */
export function isEvent(value: unknown): value is StoredEvent {
  if (typeof value !== 'object' || value === null) return false
  const { type, seq, timestamp } = value as Partial<StoredEvent>
  if (typeof type !== 'string' || typeof timestamp !== 'string' || !Number.isSafeInteger(seq)) return false
  return (seq as number) >= 1 && !OLD_TYPES.includes(type) && issueIn(type, value) === undefined
}

/** Says in words what keeps a value from being an event; undefined when it is one. */
export function eventProblem(value: unknown): string | undefined {
  if (isEvent(value)) return undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object'
  const { type, seq, timestamp } = value as Record<string, unknown>
  if (typeof type !== 'string') return 'it has no "type"'
  if (!Number.isSafeInteger(seq) || Number(seq) < 1) return `${type}: "seq" is not a positive whole number`
  if (typeof timestamp !== 'string') return `${type}: "timestamp" is not a string`
  const issue = issueIn(type, value)
  return `${type}: ${issue ? describe(issue) : 'it is not valid'}`
}

/** What zod makes of an event is not used: its copy would drop or reorder fields. */
function issueIn(type: string, value: unknown): z.core.$ZodIssue | undefined {
  if (!Object.hasOwn(eventSchemas, type)) return undefined
  return eventSchemas[type as KnownType].safeParse(value).error?.issues[0]
}

/** What a union may be: `string`, `array`. */
function kindsIn({ errors }: z.core.$ZodIssueInvalidUnion): string[] {
  return errors.flatMap(([first]) => (first?.code === 'invalid_type' ? [first.expected] : []))
}

function describe(issue: z.core.$ZodIssue): string {
  const field = `"${issue.path.join('.')}"`
  if (issue.code === 'invalid_type') return `${field} is not a valid ${issue.expected}`
  if (issue.code === 'invalid_union') return `${field} is not a valid ${kindsIn(issue).join(' or ')}`
  if (issue.code === 'invalid_value') return `${field} is none of ${issue.values.join(', ')}`
  return `${field} is not valid`
}
