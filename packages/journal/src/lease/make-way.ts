import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { JournalError } from '../errors.js'
import { endProcess } from './end-process.js'
import { HEARTBEAT_EXPIRY_MS, type HolderState, isProbablyOurPast } from './holder.js'
import { readLease, type StoredLease } from './lease-file.js'

const WATCH_INTERVAL_MS = 100

export interface Waiting {
  /** Hears, before a wait of up to half a minute, whom it is for and how long it takes. */
  onWait?: ((message: string) => void) | undefined
  /** Ends such a wait. */
  signal?: AbortSignal | undefined
}

/**
 * Returns once a holder no longer stands in the way.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: it does, or waiting for it was ended.
 */
export async function makeWay(
  directory: string,
  holder: StoredLease,
  { state, force, ...waiting }: { state: HolderState; force: boolean } & Waiting,
): Promise<void> {
  switch (state) {
    case 'free':
    case 'dead':
    case 'remote-expired':
      return
    case 'remote-fresh':
      if (force || (isProbablyOurPast(holder) && (await staysSilent(directory, holder, waiting)))) return
      break
    case 'alive':
      if (force && holder.record && holder.record.pid !== process.pid) {
        return await endProcess(holder.record.pid, holder.record.process_start)
      }
      break
    default:
      state satisfies never
  }
  throw busy(dirname(directory), holder, state)
}

/**
 * Watches a heartbeat until it would have expired, or until somebody else has taken the lease: who that is must be looked at
 * anew. False when it beats, or `signal` ends the wait.
 */
async function staysSilent(directory: string, holder: StoredLease, waiting: Waiting): Promise<boolean> {
  const { epoch, heartbeatMs } = holder
  const waitMs = HEARTBEAT_EXPIRY_MS - Math.max(0, Date.now() - heartbeatMs)
  const deadline = performance.now() + waitMs
  waiting.onWait?.(waitNotice(holder, waitMs))
  while (performance.now() < deadline) {
    if (waiting.signal?.aborted) return false
    await delay(WATCH_INTERVAL_MS) // nothing tells when a process that cannot be seen is gone
    const now = readLease(directory)
    if (now && now.epoch > epoch) return true
    if (now?.heartbeatMs !== heartbeatMs) return false
  }
  return true
}

function waitNotice(holder: StoredLease, waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000)
  return (
    `The run was being written by ${whoHolds(holder)} before this machine restarted, it seems. ` +
    `Waiting ${seconds} s for a sign of life; without one the run is taken over. With force it is taken at once.`
  )
}

function whoHolds({ epoch, record }: StoredLease): string {
  return record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${epoch}`
}

function busy(run: string, holder: StoredLease, state: HolderState): JournalError {
  const unseen =
    '\nIt cannot be seen from here (another machine, container or boot) and its last sign of life is less than\n' +
    `${HEARTBEAT_EXPIRY_MS / 1000} s old. Try again later, or take the run if you know that it is gone.`
  const message = `${run}: ${whoHolds(holder)} is writing this run. Nothing was changed.${state === 'alive' ? '' : unseen}`
  return new JournalError('ERR_RUN_BUSY', message, { path: run, wayOut: 'take' })
}
