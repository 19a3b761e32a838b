import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  endProcess,
  HEARTBEAT_EXPIRY_MS,
  type Holder,
  isProbablyOurPast,
  type Lock,
  processStart,
  readHolder,
  takeLock,
} from '@delta/durable'
import { asReadError, asWriteError, JournalError, type WayOut } from './errors.js'

/** The right to write a run, held until `release` or until somebody takes it. */
export interface Lease {
  readonly epoch: number
  readonly owner: { pid: number; host: string }
  /** The holder before, when it had not released the lease. */
  readonly takenFrom: Holder | undefined
  /** @throws {JournalError} `ERR_RUN_LOST` when another process has taken the run, or could: the lease was deleted. */
  fence(): void
  /** Marks the lease as free; the file stays. */
  release(): void
}

export interface Waiting {
  /** Called before a wait of up to half a minute, with a sentence for the user. */
  onWait?: ((message: string) => void) | undefined
  /** Ends such a wait. */
  signal?: AbortSignal | undefined
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
  { above, force = false, ...waiting }: { above?: number; force?: boolean } & Waiting = {},
): Promise<Lease> {
  const onHeld = (holder: Holder) => waitForOwner(directory, holder, { force, ...waiting })
  try {
    return leaseOf(dirname(directory), await takeLock(directory, { above, onHeld }))
  } catch (error) {
    throw asLeaseError(error, directory)
  }
}

/** The last process that took a run. */
export function readLease(directory: string): Holder | undefined {
  try {
    return readHolder(directory)
  } catch (error) {
    throw asLeaseError(error, directory)
  }
}

function asLeaseError(error: unknown, directory: string): unknown {
  const { path = directory, dest, syscall } = Object(error) as NodeJS.ErrnoException & { dest?: string }
  if (syscall === undefined) return error
  const isRead = dest === undefined && /\/\d+$/.test(path)
  return isRead
    ? asReadError(error, path, { EISDIR: MOVE_AWAY, ESPIPE: MOVE_AWAY })
    : asWriteError(error, dest ?? directory)
}

const MOVE_AWAY = 'No run creates one there: move it away, and try again.'

function leaseOf(run: string, { number, record, takenFrom, lost, release }: Lock): Lease {
  function fence(): void {
    const how = lost()
    if (how === 'taken') {
      const why = `Another process has taken this run (lease ${number + 1}), and it goes on there.`
      throw lostError(run, why, 'show')
    }
    if (how === 'deleted' && existsSync(run)) {
      const why = `The lease of this run (lease/${number}) was deleted, so another process may be writing it.`
      throw lostError(run, why, 'continue') // without a run nobody takes it
    }
  }
  return { epoch: number, owner: { pid: record.pid, host: record.host }, takenFrom, fence, release }
}

function lostError(run: string, why: string, wayOut: WayOut): JournalError {
  const message = `${run}: ${why} Nothing more was written here.`
  return new JournalError('ERR_RUN_LOST', message, { path: run, wayOut })
}

function busyError(run: string, who: string, more = ''): JournalError {
  const message = `${run}: ${who}. Nothing was changed.${more}`
  return new JournalError('ERR_RUN_BUSY', message, { path: run, wayOut: 'take' })
}

/**
 * True once a holder no longer stands in the way; false when another process is the holder by now.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: it does, or waiting for it was ended.
 */
async function waitForOwner(
  directory: string,
  holder: Holder,
  { force, ...waiting }: { force: boolean } & Waiting,
): Promise<boolean> {
  const { state, record } = holder
  if (state === 'remote-fresh') {
    if (force || (isProbablyOurPast(holder) && (await staysSilent(directory, holder, waiting)))) return true
  } else if (force && record && record.pid !== process.pid) {
    await endProcess(record.pid, record.process_start)
    return true
  }
  const who = `${whoHolds(holder)} is writing this run`
  throw busyError(dirname(directory), who, state === 'alive' ? '' : UNSEEN)
}

const WATCH_INTERVAL_MS = 100

/**
 * Watches a heartbeat until it has expired, or until another process has taken the lease, which must be looked at again. False
 * when the heart beats, or `signal` ends the wait.
 */
async function staysSilent(directory: string, holder: Holder, waiting: Waiting): Promise<boolean> {
  const { number, heartbeatMs } = holder
  const waitMs = HEARTBEAT_EXPIRY_MS - Math.max(0, Date.now() - heartbeatMs)
  const deadline = performance.now() + waitMs
  waiting.onWait?.(waitNotice(holder, waitMs))
  while (performance.now() < deadline) {
    if (waiting.signal?.aborted) return false
    await delay(WATCH_INTERVAL_MS) // nothing tells when a process that cannot be seen is gone
    const now = readLease(directory)
    if (now && now.number > number) return true
    if (now?.heartbeatMs !== heartbeatMs) return false
  }
  return true
}

function waitNotice(holder: Holder, waitMs: number): string {
  const seconds = Math.ceil(waitMs / 1000)
  return (
    `The run was being written by ${whoHolds(holder)} before this machine restarted, it seems. ` +
    `Waiting ${seconds} s for a sign of life; without one the run is taken over. With force it is taken at once.`
  )
}

/** For people: a process, or what is known of it. */
export function whoHolds({ number, record }: Holder): string {
  return record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${number}`
}

const UNSEEN = `
It cannot be seen from here (another machine, container or boot) and its last sign of life is less than
${HEARTBEAT_EXPIRY_MS / 1000} s old. Try again later, or take the run if you know that it is gone.`

/**
 * Whether a process whose lease was deleted still has the run: it stops before its next append, and until then its command
 * may be at work. Seen on Linux, and by the journal that the process has open: its pid alone may be another process's by now.
 */
export function isWritingWithoutLease(pid: number | null, journal: string): boolean {
  if (pid === null || pid === process.pid) return false
  const descriptors = `/proc/${pid}/fd`
  try {
    const wanted = statSync(journal)
    return readdirSync(descriptors).some((name) => {
      const open = statSync(join(descriptors, name), { throwIfNoEntry: false })
      return open?.ino === wanted.ino && open.dev === wanted.dev
    })
  } catch {
    return false // no such process, another user's, or no /proc
  }
}

/**
 * Returns once such a process no longer stands in the way.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: it is not to be ended by force.
 */
export async function endOwnerWithoutLease(run: string, pid: number, force: boolean): Promise<void> {
  if (force) return endProcess(pid, processStart(pid) ?? null)
  const who = `process ${pid} is writing this run, though its lease was deleted`
  throw busyError(run, who, '\nIt stops before it writes again: try again then.')
}
