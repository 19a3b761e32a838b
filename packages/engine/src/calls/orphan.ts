import { join } from 'node:path'
import { endOrphans } from '@delta/executor'
import type { PendingCall } from '@delta/journal'
import type { ActiveRun } from '../active-run.js'
import { lastEventOf } from './find-event.js'

/** A call that may have started before the last engine died, as that one left it. */
export interface LeftCall {
  /** Absolute path of its execution record; undefined if its request does not name one. */
  recordPath: string | undefined
  /** Something of it was still running. */
  wasRunning: boolean
}

/**
 * Ends what is left of a call whose engine died: by the record of its process, and on Linux by the environment it
 * carries, even if the record was never written. The listener is told which call it is, and whether anything was ended.
 */
export async function endOrphansOf(run: ActiveRun, call: PendingCall): Promise<LeftCall> {
  const request = await lastEventOf(run, 'ACTION_REQUEST', call.action_id)
  if (request) run.emit({ kind: 'open', event: request })
  const reference = request?.execution_ref ?? undefined
  const recordPath = reference === undefined ? undefined : join(run.run.directory, reference)
  const ended = await endOrphans({
    actionId: call.action_id,
    runDirectory: run.run.directory,
    ...(recordPath === undefined ? {} : { recordPath }),
  })
  const wasRunning = ended.length > 0
  if (wasRunning)
    run.emit({
      kind: 'notice',
      message: `The command of "${call.name}" was still running, and has been ended.`,
    })
  return { recordPath, wasRunning }
}
