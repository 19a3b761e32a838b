import { closeSync, fstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf, namesIn, openAtOnce } from './files.js'
import { processStart, seesProcesses, thisMachine } from './processes.js'

/** The process that took a lock: the content of `<directory>/<number>`. */
export interface LockRecord {
  pid: number
  /** See `ProcessInfo.startTime`; null where it could not be seen. */
  process_start: string | null
  boot_id: string
  pid_namespace: string
  /** For messages only: names repeat and change. */
  host: string
  /** ISO 8601, UTC. */
  taken: string
  /** Set once the lock is free. */
  released?: string
}

/**
 * State of the holder of a lock:
 * - `free`: it released the lock.
 * - `dead`: it ran on this machine, and its process is gone or another process has its pid.
 * - `alive`: its process runs on this machine.
 * - `remote-expired`, `remote-fresh`: its process cannot be seen from here (another machine, container or boot, or no `/proc`
 *   of its own); only its heartbeat tells.
 */
export type HolderState = 'free' | 'dead' | 'alive' | 'remote-expired' | 'remote-fresh'

/** The process that took a lock last. */
export interface Holder {
  /** Name of the file: 1, 2, 3 … */
  number: number
  /** Undefined when the content is not a record: the disk lost it, or it was edited. Then only the heartbeat tells. */
  record: LockRecord | undefined
  /** Time of the last heartbeat by the file system's clock: milliseconds since 1970. */
  heartbeatMs: number
  state: HolderState
}

/** A holder that cannot be seen counts as gone when its last heartbeat is older than this. */
export const HEARTBEAT_EXPIRY_MS = 30_000

/**
 * Reads which process took a lock last.
 *
 * @param now - Milliseconds since 1970 by the clock that stamps the heartbeats, which on a network file system is not ours.
 * @returns Undefined when the lock was never taken.
 * @throws The system's error; as `openAtOnce`.
 */
export function readHolder(directory: string, now: () => number = Date.now): Holder | undefined {
  const number = highestNumber(directory)
  if (number === 0) return undefined
  try {
    return { number, ...readLockFile(join(directory, String(number)), now) }
  } catch (error) {
    const isReplaced = codeOf(error) === 'ENOENT' && highestNumber(directory) !== number
    if (!isReplaced) throw error
    return readHolder(directory, now)
  }
}

const MAX_RECORD_BYTES = 4096

function readLockFile(path: string, now: () => number): Omit<Holder, 'number'> {
  const file = openAtOnce(path)
  try {
    const { size, mtimeMs: heartbeatMs } = fstatSync(file)
    const record = size > MAX_RECORD_BYTES ? undefined : parseRecord(readFileSync(file, 'utf8'))
    return { record, heartbeatMs, state: stateOf(record, heartbeatMs, now) }
  } finally {
    closeSync(file)
  }
}

function stateOf(record: LockRecord | undefined, heartbeatMs: number, now: () => number): HolderState {
  if (record?.released !== undefined) return 'free'
  if (record && record.boot_id === thisMachine().bootId && countsOurProcesses(record)) {
    const start = processStart(record.pid)
    const isSame = start !== undefined && (record.process_start === null || start === record.process_start)
    return isSame ? 'alive' : 'dead'
  }
  // a heartbeat from the future was stamped before the clock was set back, so it proves as little as an old one
  return Math.abs(now() - heartbeatMs) > HEARTBEAT_EXPIRY_MS ? 'remote-expired' : 'remote-fresh'
}

function countsOurProcesses({ pid_namespace }: LockRecord): boolean {
  return pid_namespace === thisMachine().pidNamespace && seesProcesses()
}

function parseRecord(text: string): LockRecord | undefined {
  try {
    const record = JSON.parse(text) as LockRecord
    const { pid, process_start: start, boot_id, pid_namespace, host } = record
    const isWhole = [start ?? '', boot_id, pid_namespace, host].every((each) => typeof each === 'string')
    return isWhole && Number.isSafeInteger(pid) && pid > 0 ? record : undefined
  } catch {
    return undefined // not JSON, or not a mapping
  }
}

/** @throws The system's error, `ENOENT` too. */
export function highestNumber(directory: string): number {
  const numbers = namesIn(directory).filter((name) => /^[1-9]\d{0,14}$/.test(name))
  return Math.max(0, ...numbers.map(Number))
}
