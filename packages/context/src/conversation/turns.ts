import { isKnownEvent, type StoredEvent } from '@delta/journal/runs'
import type { Content } from '@delta/model'
import { isAnswered, note, type OpenCycle, openCycle, render } from './cycle.js'
import type { Turn } from './turn.js'
import { sizeMessage } from './turn.js'

/** Reads a conversation out of a run's events, as they come. */
export interface TurnCollector {
  push(events: Iterable<StoredEvent>): void
  /** The conversation so far. Turns that are complete are the same objects each time. */
  turns(): Turn[]
}

/**
 * What comes out is always a conversation that a strict API accepts.
 *
 * Results stand in the order of the calls, whatever order they came in. What users and the engine said between
 * a thought and its last result comes after that result. A call without a result gets an answer that says so, and
 * results nobody asked for are left out. So is an answer after which the run was retried: the request is made again.
 */
export function collectTurns(): TurnCollector {
  const closed: Turn[] = []
  const usedIds = new Set<string>()
  let open: OpenCycle | undefined

  const close = () => {
    if (open !== undefined) closed.push(...render(open))
    open = undefined
  }
  const say = (kind: 'user' | 'system', content: Content, iteration?: number) => {
    if (open !== undefined && isAnswered(open)) close()
    const turns = open === undefined ? closed : open.later
    const messages = [sizeMessage({ role: kind, content })]
    turns.push({ kind, messages, ...(iteration !== undefined && { iteration }) })
  }

  function push(event: StoredEvent): void {
    if (!isKnownEvent(event)) return
    switch (event.type) {
      case 'USER_MESSAGE':
        say('user', event.content)
        break
      case 'SYSTEM_MESSAGE':
        say('system', event.content, event.iteration)
        break
      case 'ENGINE_START':
        if (event.retry && open?.thought.tool_calls.length === 0) open = undefined
        break
      case 'THOUGHT':
        close()
        open = openCycle(event, usedIds)
        break
      default:
        if (open !== undefined) note(open, event)
    }
  }

  return {
    push: (events) => {
      for (const event of events) push(event)
    },
    turns: () => closed.concat(open === undefined ? [] : render(open)),
  }
}
