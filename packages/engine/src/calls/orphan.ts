import { join } from 'node:path'
import { endOrphans } from '@delta/executor'
import type { ActionRequest, PendingCall } from '@delta/journal/runs'
import { lastEventOf } from '../history.js'
import type { RunState } from '../run-state.js'

/** A call that may have started before its engine died, as that engine left it. */
export interface LeftCall {
  /** Its last request. */
  request: ActionRequest | undefined
  /** Absolute path of its execution record; undefined if its request does not name one. */
  recordPath: string | undefined
  /** Something of it was still running. */
  wasRunning: boolean
}

/**
 * Ends the remaining processes of all calls whose engine died, before any is settled: settling a call may take long, or wait
 * for a person. All at once, because each process has its own time to end.
 */
export async function endOrphansOf(
  state: RunState,
  calls: readonly PendingCall[],
): Promise<Map<PendingCall, LeftCall>> {
  const ending = calls.map(async (call) => [call, await endOrphansOfCall(state, call)] as const)
  return new Map(await Promise.all(ending))
}

/**
 * Finds processes by their record and, on Linux, by their environment, so even if the record was never written. Reports a
 * notice if any was ended.
 */
async function endOrphansOfCall(state: RunState, call: PendingCall): Promise<LeftCall> {
  const request = lastEventOf(await state.run.events(), 'ACTION_REQUEST', call.action_id)
  const reference = request?.execution_ref ?? undefined
  const recordPath = reference === undefined ? undefined : join(state.run.directory, reference)
  const ended = await endOrphans({
    actionId: call.action_id,
    runDirectory: state.run.directory,
    ...(recordPath === undefined ? {} : { recordPath }),
  })
  const wasRunning = ended.length > 0
  if (wasRunning)
    state.emit({
      kind: 'notice',
      message: `The command of "${call.name}" was still running, and has been ended.`,
    })
  return { request, recordPath, wasRunning }
}
