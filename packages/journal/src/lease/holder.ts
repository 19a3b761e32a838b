import type { LeaseRecord, StoredLease } from './lease-file.js'
import { thisMachine, UNSEEN } from './machine.js'
import { processStart } from './process-identity.js'

/** A holder somewhere else that gave no sign of life for this long is taken to be gone. */
export const HEARTBEAT_EXPIRY_MS = 30_000

/**
 * What can be said about the holder of a lease:
 * - `free`: it released the lease.
 * - `dead`: it ran on this machine and its process is gone, or another one has its pid.
 * - `alive`: its process runs on this machine.
 * - `remote-expired`, `remote-fresh`: it runs, or ran, where we cannot look (another machine, container or
 *   boot, or no `/proc` of its own); only its heartbeat speaks.
 */
export type HolderState = 'free' | 'dead' | 'alive' | 'remote-expired' | 'remote-fresh'

/** @param nowMs - Now by the clock that stamps the heartbeats: the file system's. */
export function holderState({ record, heartbeatMs }: Omit<StoredLease, 'epoch'>, nowMs: number): HolderState {
  if (record?.released !== undefined) return 'free'
  if (record && isLocal(record)) {
    const start = processStart(record.pid)
    const same = start !== undefined && (record.process_start === null || start === record.process_start)
    return same ? 'alive' : 'dead'
  }
  // A heartbeat from the future was stamped before the clock was set back: it says as little as an old one.
  return Math.abs(nowMs - heartbeatMs) > HEARTBEAT_EXPIRY_MS ? 'remote-expired' : 'remote-fresh'
}

/**
 * True when a remote holder is most likely this machine before it was started anew: nobody's live
 * owner, but only its heartbeat can tell, so it is worth waiting for that to expire. A lease has lost its
 * content when the power went soon after its release, which is not synced.
 */
export function isProbablyOurPast({ record }: StoredLease): boolean {
  return record === undefined || (record.host === thisMachine().host && hasOurPids(record))
}

function isLocal(record: LeaseRecord): boolean {
  return record.boot_id === thisMachine().bootId && hasOurPids(record)
}

function hasOurPids({ pid_namespace }: LeaseRecord): boolean {
  return pid_namespace === thisMachine().pidNamespace && pid_namespace !== UNSEEN
}
