import type { EngineEvent } from '@delta/engine'
import { storedEvent } from './stored-event.js'

/**
 * Knows the notices that say what is shown anyhow: of a hook that failed, where hooks are shown, and of a guard, whose
 * refusal of the call tells it. To be asked about every event of a run, in their order.
 */
export function toldNotices({ showsHooks }: { showsHooks: boolean }): (event: EngineEvent) => boolean {
  let told: string | undefined
  return (event) => {
    if (event.kind === 'notice') return event.message === told
    const stored = storedEvent(event)
    if (stored === undefined) return false
    const isTold =
      stored.type === 'HOOK_EXECUTION_AUDIT' && (showsHooks || stored.hook_name === 'pre_tool_execution')
    told = isTold ? stored.error_message : undefined
    return false
  }
}
