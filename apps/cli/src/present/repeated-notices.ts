import type { EngineEvent } from '@delta/engine'
import { storedEvent } from './stored-event.js'

/**
 * A predicate for notices that repeat what is shown anyway: about a failed hook where hooks are shown, and about a failed
 * guard, whose refusal of the call says the same. It must be called with every event of a run, in order.
 */
export function repeatedNotices({ showsHooks }: { showsHooks: boolean }): (event: EngineEvent) => boolean {
  let shown: string | undefined
  return (event) => {
    if (event.kind === 'notice') return event.message === shown
    const stored = storedEvent(event)
    if (stored === undefined) return false
    const isShown =
      stored.type === 'HOOK_EXECUTION_AUDIT' && (showsHooks || stored.hook_name === 'pre_tool_execution')
    shown = isShown ? stored.error_message : undefined
    return false
  }
}
