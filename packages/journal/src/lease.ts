import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { endProcess, type Holder, type Lock, readHolder, takeLock } from '@delta/durable'
import { HEARTBEAT_EXPIRY_MS } from '@delta/durable/internal'
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

/** How a lease is taken. */
export interface TakeOptions {
  /** End a live holder on this machine; take the lease of one that cannot be seen, whatever its heartbeat says. */
  force?: boolean | undefined
  /** The highest number known to be taken, in case lease files were deleted. */
  above?: number | undefined
}

/**
 * Takes the right to write a run. The highest `lease/<epoch>` owns; releasing deletes nothing.
 *
 * @param directory - The run's `lease` directory; created when missing.
 * @throws {JournalError} `ERR_RUN_BUSY`: another process owns the run, or won the race for it.
 */
export async function takeLease(
  directory: string,
  { above, force = false }: TakeOptions = {},
): Promise<Lease> {
  const onHeld = (holder: Holder) => endOrRefuse(dirname(directory), holder, force)
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
      throw lostError(run, why, 'take') // without a run nobody takes it
    }
  }
  return { epoch: number, owner: { pid: record.pid, host: record.host }, takenFrom, fence, release }
}

function lostError(run: string, why: string, wayOut: WayOut): JournalError {
  const message = `${run}: ${why} Nothing more was written here.`
  return new JournalError('ERR_RUN_LOST', message, { path: run, wayOut })
}

/**
 * Returns true once the holder no longer stands in the way, because `force` allows to end or to ignore it.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`
 */
async function endOrRefuse(run: string, holder: Holder, force: boolean): Promise<boolean> {
  const { state, record } = holder
  const isSeen = state === 'alive'
  if (!force || (isSeen && record?.pid === process.pid)) {
    const message = `${run}: ${whoHolds(holder)} is writing this run. Nothing was changed.`
    throw busyError(run, isSeen ? message : `${message}\n${UNSEEN}`)
  }
  if (isSeen && record) await endProcess(record.pid, record.process_start)
  return true
}

export function busyError(run: string, message: string): JournalError {
  return new JournalError('ERR_RUN_BUSY', message, { path: run, wayOut: 'take' })
}

/** For people: a process, or what is known of it. */
export function whoHolds({ number, record }: Holder): string {
  return record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${number}`
}

const UNSEEN = `It cannot be seen from here (another machine, container or boot) and its last sign of life is less than
${HEARTBEAT_EXPIRY_MS / 1000} s old. Try again later, or take the run if you know that it is gone.`
