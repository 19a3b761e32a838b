import { asWriteError } from '../files/write-error.js'
import { type HeldLease, holdLease } from './hold-lease.js'
import { type HolderState, holderState } from './holder.js'
import { type Candidate, leaseRecord, readLease, type StoredLease, writeCandidate } from './lease-file.js'
import { makeWay, type Waiting } from './make-way.js'

/** The right to write a run, held until `release` or until somebody takes it. */
export interface Lease extends HeldLease {
  /** Whom it was taken from, when that one had not released it. */
  readonly takenFrom?: { holder: StoredLease; state: HolderState }
}

/**
 * Takes the right to write a run. The highest `lease/<epoch>` owns; nothing is ever deleted.
 *
 * @param directory - The run's `lease` directory; created when missing.
 * @param options.above - A number known to be taken: a directory whose files were deleted does not know it.
 * @param options.force - End a live holder on this machine; do not wait for a remote one's heartbeat.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody else owns the run, or won the race for it.
 */
export async function takeLease(
  directory: string,
  { above = 0, force = false, ...waiting }: { above?: number; force?: boolean } & Waiting = {},
): Promise<Lease> {
  const record = leaseRecord()
  const candidate = prepare(directory, record)
  try {
    for (;;) {
      const holder = readLease(directory)
      const state = holder ? holderState(holder, candidate.nowMs) : 'free'
      if (holder) await makeWay(directory, holder, { state, force, ...waiting })
      const epoch = Math.max(holder?.epoch ?? 0, above) + 1
      if (!candidate.link(epoch)) continue // somebody was faster: look at who it is
      const lease = holdLease(directory, epoch, record)
      return holder && state !== 'free' ? { ...lease, takenFrom: { holder, state } } : lease
    }
  } finally {
    candidate.discard()
  }
}

function prepare(directory: string, record: ReturnType<typeof leaseRecord>): Candidate {
  try {
    return writeCandidate(directory, record)
  } catch (error) {
    throw asWriteError(error, directory)
  }
}
