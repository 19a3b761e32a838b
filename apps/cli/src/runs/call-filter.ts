import { isKnownEvent, type StoredEvent } from '@delta/journal'

/** Which calls are meant: those of one tool, those that did not succeed, or both. */
export interface CallFilter {
  tool?: string | undefined
  failed?: boolean | undefined
}

/** An event of a call; of one that is not known, whatever it has of these fields. */
type CallEvent = StoredEvent & { action_id?: unknown; status?: unknown }

/**
 * Lets only these calls through, each with the thought that made it. An event may be held back until the call's result is
 * there, so what goes in comes out later, or never. Failed requests to the model pass as failed calls do.
 */
export function callFilter({ tool, failed = false }: CallFilter): (event: StoredEvent) => StoredEvent[] {
  if (tool === undefined && !failed) return (event) => [event]
  let thought: StoredEvent | undefined
  const shown = new Set<unknown>()
  const held = new Map<unknown, StoredEvent[]>()
  const names = new Map<unknown, string>()

  function take(id: unknown, event: StoredEvent): StoredEvent[] {
    const before = [...(thought ? [thought] : []), ...(held.get(id) ?? [])]
    thought = undefined
    held.delete(id)
    shown.add(id)
    return [...before, event]
  }

  return (event) => {
    if (isKnownEvent(event) && event.type === 'THOUGHT') {
      thought = event
      held.clear()
      for (const call of event.tool_calls) names.set(call.action_id, call.name)
      return []
    }
    const { type, action_id: id, status } = event as CallEvent
    if (id === undefined) return type === 'ERROR' && failed && tool === undefined ? [event] : []
    if (shown.has(id)) return [event]
    if (tool !== undefined && names.get(id) !== tool) return []
    if (!failed || (type === 'ACTION_RESULT' && status !== 'SUCCESS')) return take(id, event)
    held.set(id, [...(held.get(id) ?? []), event])
    return []
  }
}
