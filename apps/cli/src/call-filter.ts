import { isKnownEvent, type StoredEvent } from '@delta/journal/runs'

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
  let thought: StoredEvent[] = []
  const shown = new Set<unknown>()
  /** What waits for its result, by the calls of the last thought that may be meant. */
  const held = new Map<unknown, StoredEvent[]>()

  return (event) => {
    if (isKnownEvent(event) && event.type === 'THOUGHT') {
      thought = [event]
      held.clear()
      for (const { name, action_id } of event.tool_calls)
        if (tool === undefined || name === tool) held.set(action_id, [])
      return []
    }
    const { type, action_id: id, status } = event as CallEvent
    if (id === undefined) return type === 'ERROR' && failed && tool === undefined ? [event] : []
    if (shown.has(id)) return [event]
    const before = held.get(id)
    if (before === undefined) return []
    before.push(event)
    if (failed && (type !== 'ACTION_RESULT' || status === 'SUCCESS')) return []
    const made = thought
    thought = []
    shown.add(id)
    return [...made, ...before]
  }
}
