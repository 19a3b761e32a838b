import { eventSchemas, type StoredEvent } from './event.js'

/**
 * Says what keeps a parsed line from being an event, or undefined when it is one.
 *
 * The value itself is used afterwards, never zod's copy: fields and types this
 * version does not know survive reading and rewriting.
 */
export function eventProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it is not a JSON object'
  const { type, seq, timestamp } = value as Partial<StoredEvent>
  if (typeof type !== 'string') return 'it has no "type"'
  if (!Object.hasOwn(eventSchemas, type)) {
    if (!Number.isSafeInteger(seq) || Number(seq) < 1) return '"seq" is not a positive whole number'
    return typeof timestamp === 'string' ? undefined : '"timestamp" is not a string'
  }
  const result = eventSchemas[type as keyof typeof eventSchemas].safeParse(value)
  if (result.success) return undefined
  const issue = result.error.issues[0]
  return issue ? `${type} "${issue.path.join('.')}": ${issue.message}` : `it is no valid ${type}`
}
