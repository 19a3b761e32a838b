import type { Thought } from './event.js'

/** A call of the last THOUGHT that has no result yet. */
export interface PendingCall {
  /** Made by the engine, and unique in the run: by it the later events name the call. */
  action_id: string
  /** The provider's, which may come again in a later response. */
  id: string
  name: string
  /** The raw string the model sent. */
  arguments: string
  /** Of its THOUGHT, from 1. */
  iteration: number
  /** True when it may have been started: there is an ACTION_REQUEST. */
  requested: boolean
  /** How many ACTION_REQUESTs there are. */
  attempts: number
}

export type CallTracker = ReturnType<typeof callTracker>

/** Follows what became of the calls of the last THOUGHT. */
export function callTracker() {
  let thought: Thought | undefined
  let attempts = new Map<string, number>()
  let done = new Set<string>()

  function askedFor(event: Thought): void {
    thought = event
    attempts = new Map()
    done = new Set()
  }

  function requested(actionId: string): void {
    attempts.set(actionId, (attempts.get(actionId) ?? 0) + 1)
  }

  function answered(actionId: string): void {
    done.add(actionId)
  }

  /** Those without a result, in call order. */
  function pending(): PendingCall[] {
    const { tool_calls = [], iteration = 0 } = thought ?? {}
    return tool_calls
      .filter(({ action_id }) => !done.has(action_id))
      .map(({ action_id, id, name, arguments: raw }) => {
        const tried = attempts.get(action_id) ?? 0
        return { action_id, id, name, arguments: raw, iteration, requested: tried > 0, attempts: tried }
      })
  }

  return { askedFor, requested, answered, pending }
}
