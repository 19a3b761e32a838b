import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endProcess } from './end-process.js'
import { JournalError } from './errors.js'
import { HEARTBEAT_EXPIRY_MS, type HolderState, isProbablyOurPast } from './holder.js'
import { readLease, type StoredLease } from './lease-file.js'

const WATCH_INTERVAL_MS = 100

/**
 * Returns once a holder no longer stands in the way.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: it does.
 */
export async function makeWay(
  directory: string,
  holder: StoredLease,
  { state, force }: { state: HolderState; force: boolean },
): Promise<void> {
  switch (state) {
    case 'free':
    case 'dead':
    case 'remote-expired':
      return
    case 'remote-fresh':
      if (force || (isProbablyOurPast(holder) && (await staysSilent(directory, holder)))) return
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

/** Watches a heartbeat until it would have expired; false when it beats, or somebody else takes the lease. */
async function staysSilent(directory: string, { epoch, heartbeatMs }: StoredLease): Promise<boolean> {
  const deadline = performance.now() + HEARTBEAT_EXPIRY_MS - Math.max(0, Date.now() - heartbeatMs)
  while (performance.now() < deadline) {
    await delay(WATCH_INTERVAL_MS) // nothing tells when a process that cannot be seen is gone
    const now = readLease(directory)
    if (now?.epoch !== epoch || now.heartbeatMs !== heartbeatMs) return false
  }
  return true
}

function busy(run: string, { epoch, record }: StoredLease, state: HolderState): JournalError {
  const who = record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${epoch}`
  const advice =
    state === 'alive'
      ? 'Wait until it ends, or end it and take the run with --force.'
      : 'It cannot be seen from here (another machine, container or boot) and its last sign of life is less than\n' +
        `${HEARTBEAT_EXPIRY_MS / 1000} s old. Try again later, or take the run with --force if you know that it is gone.`
  const message = `${run}: The run is being written by ${who}. Nothing was changed.\n${advice}`
  return new JournalError('ERR_RUN_BUSY', message, { path: run })
}
