import { join } from 'node:path'
import { endOrphans } from '@delta/executor'
import type { PendingCall } from '@delta/journal'
import type { ActiveRun } from './active-run.js'
import { lastEventOf } from './find-event.js'

/**
 * Ends what is left of a call whose engine died: by the record of its process, and on Linux by the environment it
 * carries, even if the record was never written.
 *
 * @returns Absolute path of the call's execution record; undefined if its request does not name one.
 */
export async function endOrphansOf(run: ActiveRun, call: PendingCall): Promise<string | undefined> {
  const reference = (await lastEventOf(run, 'ACTION_REQUEST', call.action_id))?.execution_ref ?? undefined
  const recordPath = reference === undefined ? undefined : join(run.run.directory, reference)
  await endOrphans({
    actionId: call.action_id,
    runDirectory: run.run.directory,
    ...(recordPath === undefined ? {} : { recordPath }),
  })
  return recordPath
}
