import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { JournalError } from './errors.js'
import { type LeaseRecord, leaseText } from './lease-file.js'
import { replaceFile } from './replace.js'

/** A lease this process owns. */
export interface HeldLease {
  readonly epoch: number
  readonly owner: { pid: number; host: string }
  /** @throws {JournalError} `ERR_RUN_LOST` when another process has taken the run. */
  fence(): void
  /** Marks the lease as free; the file stays. */
  release(): void
}

const HEARTBEAT_INTERVAL_MS = 5_000

/** Keeps a lease that was just taken: beats its heart, and looks whether somebody took it. */
export function holdLease(directory: string, epoch: number, record: LeaseRecord): HeldLease {
  const path = join(directory, String(epoch))
  const next = join(directory, String(epoch + 1))
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref()

  /** Writing the same bytes again makes the file system stamp its own time on them. */
  function beat(): void {
    try {
      writeFileSync(path, leaseText(record), { flag: 'r+' })
    } catch {
      // A missed heartbeat costs nothing here; if the disk is gone, the next append says so.
    }
  }

  /** Epochs go up by one and are never deleted, so the next one is the only place to look. */
  function fence(): void {
    if (existsSync(next)) throw lost(dirname(directory), epoch + 1)
  }

  function release(): void {
    clearInterval(timer)
    const text = leaseText({ ...record, released: new Date().toISOString() })
    try {
      replaceFile(path, text, { durable: false })
    } catch {
      releaseInPlace(text)
    }
  }

  /** On a full disk there is no room beside, and as a rule some behind the few bytes that are there. */
  function releaseInPlace(text: string): void {
    try {
      writeFileSync(path, text, { flag: 'r+' })
    } catch {
      // A lease that cannot be marked as free is found dead as soon as this process is gone.
    }
  }

  return { epoch, owner: { pid: record.pid, host: record.host }, fence, release }
}

function lost(run: string, epoch: number): JournalError {
  return new JournalError(
    'ERR_RUN_LOST',
    `${run}: Another process has taken this run (lease ${epoch}). Nothing more was written here.\n` +
      'The run goes on there; look at it with: delta list-runs',
    { path: run },
  )
}
