import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endProcess } from './end-process.js'
import { JournalError } from './errors.js'
import { HEARTBEAT_EXPIRY_MS, type HolderState, holderState, isProbablyOurPast } from './holder.js'
import {
  type Candidate,
  leaseRecord,
  leaseText,
  readLease,
  type StoredLease,
  writeCandidate,
} from './lease-file.js'
import { replaceFile } from './replace.js'
import { writeError } from './write.js'

/** The right to write a run, held until `release` or until somebody takes it. */
export interface Lease {
  readonly epoch: number
  readonly owner: { pid: number; host: string }
  /** Whom it was taken from, when that one had not released it. */
  readonly takenFrom?: { holder: StoredLease; state: HolderState }
  /** @throws {JournalError} `ERR_RUN_LOST` when another process has taken the run. */
  fence(): void
  release(): void
}

const HEARTBEAT_INTERVAL_MS = 5_000
const WATCH_INTERVAL_MS = 100

/**
 * Takes the right to write a run. The highest `lease/<epoch>` owns; nothing is ever deleted.
 *
 * @param directory - The run's `lease` directory; created when missing.
 * @param options.force - End a live holder on this machine; do not wait for a remote one's heartbeat.
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody else owns the run, or won the race for it.
 */
export async function takeLease(directory: string, { force = false } = {}): Promise<Lease> {
  const record = leaseRecord()
  const candidate = prepare(directory, record)
  try {
    for (;;) {
      const holder = readLease(directory)
      const state = holder ? holderState(holder, candidate.nowMs) : 'free'
      if (holder) await makeWay(directory, holder, state, force)
      const epoch = (holder?.epoch ?? 0) + 1
      if (!candidate.link(epoch)) continue // somebody was faster: look at who it is
      const takenFrom = holder && state !== 'free' ? { takenFrom: { holder, state } } : {}
      return { ...hold(directory, epoch, leaseText(record), record), ...takenFrom }
    }
  } finally {
    candidate.discard()
  }
}

function prepare(directory: string, record: ReturnType<typeof leaseRecord>): Candidate {
  try {
    return writeCandidate(directory, record)
  } catch (error) {
    throw writeError(error, directory)
  }
}

/** Returns once the holder no longer stands in the way. */
async function makeWay(
  directory: string,
  holder: StoredLease,
  state: HolderState,
  force: boolean,
): Promise<void> {
  const { record } = holder
  if (state === 'free' || state === 'dead' || state === 'remote-expired') return
  if (state === 'remote-fresh' && force) return
  if (state === 'remote-fresh' && isProbablyOurPast(holder) && (await staysSilent(directory, holder))) return
  if (state === 'alive' && force && record && record.pid !== process.pid) {
    await endProcess(record.pid, record.process_start)
    return
  }
  throw busy(directory, holder, state)
}

/** Watches a heartbeat until it would have expired; false when it beats, or somebody else takes the lease. */
async function staysSilent(directory: string, { epoch, heartbeatMs }: StoredLease): Promise<boolean> {
  const deadline = performance.now() + HEARTBEAT_EXPIRY_MS - Math.max(0, Date.now() - heartbeatMs)
  while (performance.now() < deadline) {
    await delay(WATCH_INTERVAL_MS) // nothing tells when another machine's process is gone
    const now = readLease(directory)
    if (now?.epoch !== epoch || now.heartbeatMs !== heartbeatMs) return false
  }
  return true
}

function busy(directory: string, { epoch, record }: StoredLease, state: HolderState): JournalError {
  const run = dirname(directory)
  const who = record ? `process ${record.pid} on ${record.host}` : `the holder of lease ${epoch}`
  const advice =
    state === 'alive'
      ? 'Wait until it ends, or end it and take the run with --force.'
      : `It cannot be seen from here (another machine, container or boot) and its last sign of life is less than\n${HEARTBEAT_EXPIRY_MS / 1000} s old. Try again later, or take the run with --force if you know that it is gone.`
  return new JournalError(
    'ERR_RUN_BUSY',
    `${run}: The run is being written by ${who}. Nothing was changed.\n${advice}`,
    {
      path: run,
    },
  )
}

function hold(directory: string, epoch: number, text: string, record: ReturnType<typeof leaseRecord>): Lease {
  const path = join(directory, String(epoch))
  const next = join(directory, String(epoch + 1))
  const timer = setInterval(() => beat(path, text), HEARTBEAT_INTERVAL_MS).unref()

  function fence(): void {
    if (!existsSync(next)) return
    const run = dirname(directory)
    throw new JournalError(
      'ERR_RUN_LOST',
      `${run}: Another process has taken this run (lease ${epoch + 1}). Nothing more was written here.\n` +
        'The run goes on there; look at it with: delta list-runs',
      { path: run },
    )
  }

  function release(): void {
    clearInterval(timer)
    try {
      replaceFile(path, leaseText({ ...record, released: new Date().toISOString() }), { durable: false })
    } catch {
      // A lease that cannot be marked as released is found dead as soon as this process is gone.
    }
  }

  return { epoch, owner: { pid: record.pid, host: record.host }, fence, release }
}

/** Writing the same bytes again makes the file system stamp its own time on them. */
function beat(path: string, text: string): void {
  try {
    const descriptor = openSync(path, 'r+')
    writeSync(descriptor, text, 0)
    closeSync(descriptor)
  } catch {
    // A missed heartbeat costs nothing here; if the disk is gone, the next append says so.
  }
}
