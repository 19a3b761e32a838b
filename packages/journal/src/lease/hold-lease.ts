import { closeSync, existsSync, fstatSync, openSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { JournalError, type WayOut } from '../errors.js'
import { replaceFile } from '../files/replace.js'
import { type LeaseRecord, leaseText } from './lease-file.js'

/** A lease this process owns. */
export interface HeldLease {
  readonly epoch: number
  readonly owner: { pid: number; host: string }
  /** @throws {JournalError} `ERR_RUN_LOST` when another process has taken the run, or could: the lease was deleted. */
  fence(): void
  /** Marks the lease as free; the file stays. */
  release(): void
}

const HEARTBEAT_INTERVAL_MS = 5_000

/** Keeps a lease that was just taken: beats its heart, and looks whether somebody took it. */
export function holdLease(directory: string, epoch: number, record: LeaseRecord): HeldLease {
  const path = join(directory, String(epoch))
  const next = join(directory, String(epoch + 1))
  const run = dirname(directory)
  const file = openSync(path, 'r+') // kept open: of its name alone nobody could say whose lease it is by now
  const timer = setInterval(beat, HEARTBEAT_INTERVAL_MS).unref()
  let isReleased = false

  /** Writing the same bytes again makes the file system stamp its own time on them. */
  function beat(): void {
    try {
      writeSync(file, leaseText(record), 0)
    } catch {
      // A missed heartbeat costs nothing here; if the disk is gone, the next append says so.
    }
  }

  /**
   * Epochs go up by one and are never deleted by us, so the next one is the only place to look. But a command of the agent
   * can delete them, and whoever comes then finds nobody here: that takes a second look, a microsecond an append. It is the
   * first, for what has the next number then may be the lease of somebody who was refused.
   */
  function fence(): void {
    if (!isReleased && isDeleted() && existsSync(run)) throw deleted(run, epoch) // without a run nobody takes it
    if (existsSync(next)) throw taken(run, epoch + 1)
  }

  function isDeleted(): boolean {
    return fstatSync(file).nlink === 0
  }

  function release(): void {
    if (isReleased) return
    isReleased = true
    clearInterval(timer)
    if (!isDeleted()) markFree() // what has its name now would be the lease of another
    closeSync(file)
  }

  function markFree(): void {
    const text = leaseText({ ...record, released: new Date().toISOString() })
    try {
      replaceFile(path, text, { durable: false })
    } catch {
      markInPlace(text)
    }
  }

  /** On a full disk there is no room beside, and as a rule some behind the few bytes that are there. */
  function markInPlace(text: string): void {
    try {
      writeSync(file, text, 0)
    } catch {
      // A lease that cannot be marked as free is found dead as soon as this process is gone.
    }
  }

  return { epoch, owner: { pid: record.pid, host: record.host }, fence, release }
}

function taken(run: string, epoch: number): JournalError {
  const message = `Another process has taken this run (lease ${epoch}), and it goes on there. Nothing more was written here.`
  return lost(run, message, 'show')
}

function deleted(run: string, epoch: number): JournalError {
  const message = `The lease of this run (lease/${epoch}) was deleted, so another process may be writing it. Nothing more was written here.`
  return lost(run, message, 'continue')
}

function lost(run: string, message: string, wayOut: WayOut): JournalError {
  return new JournalError('ERR_RUN_LOST', `${run}: ${message}`, { path: run, wayOut })
}
