import { interruptPolicy } from '@delta/executor'
import type { PendingCall } from '@delta/journal'
import { actOn } from './act.js'
import { type ActiveRun, record } from './active-run.js'
import { endOrphan } from './orphan.js'
import type { Outcome } from './outcome.js'

/**
 * Settles a call that may have started before the last engine died. What is left of its process is ended first, so that
 * nothing runs beside its successor. Then the tool's `on_interrupt` decides: the model is told that the outcome is unknown
 * (the default), or the call is made again and its `ACTION_REQUEST` says so.
 */
export async function settleStarted(run: ActiveRun, call: PendingCall): Promise<Outcome | undefined> {
  const left = await endOrphan(run, call)
  const tool = run.agent.tools.get(call.name)
  if (tool && interruptPolicy(tool) === 'rerun') {
    return actOn(run, call, { iteration: call.iteration, attempt: call.attempts + 1 })
  }
  record(run, {
    type: 'ACTION_RESULT',
    iteration: call.iteration,
    action_id: call.action_id,
    tool_name: call.name,
    status: 'INTERRUPTED',
    exit_code: null,
    signal: null,
    observation_content: left.observation,
    execution_ref: left.executionRef,
    duration_ms: null,
  })
  return undefined
}
