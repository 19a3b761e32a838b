import { ContextError } from './errors.js'

/**
 * For callers without a type checker: what is wrong is said at the door, by its name, and not somewhere within.
 *
 * @param what - The function and the argument or option.
 * @throws {ContextError} `ERR_CONTEXT_USAGE`
 */
export function requireThat(isRight: boolean, what: string, wanted: string): asserts isRight {
  if (isRight) return
  const message = `${what} is missing or invalid.\nPass ${wanted}.`
  throw new ContextError('ERR_CONTEXT_USAGE', message)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** Events are looked at by their `type`; what is none would fail far from where it was passed. */
export function isEvents(value: unknown): boolean {
  return Array.isArray(value) && value.every(isEvent)
}

/** Of what becomes a message also the parts it is made of, as in a journal that is read from its file. */
function isEvent(event: unknown): boolean {
  const { type, content, tool_calls: calls } = Object(event)
  if (typeof type !== 'string') return false
  if (type === 'USER_MESSAGE' || type === 'SYSTEM_MESSAGE') return typeof content === 'string'
  return type !== 'THOUGHT' || (Array.isArray(calls) && calls.every(isObject))
}
