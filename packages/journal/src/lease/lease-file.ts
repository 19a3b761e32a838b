import { randomBytes } from 'node:crypto'
import { closeSync, fstatSync, linkSync, mkdirSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { namesIn } from '../files/names-in.js'
import { openAtOnce, readText } from '../files/read-at.js'
import { asReadError } from '../files/read-error.js'
import { writeNew } from '../files/replace.js'
import { asWriteError } from '../files/write-error.js'
import { type Machine, thisMachine } from './machine.js'
import { processStart } from './process-identity.js'

const leaseSchema = z.object({
  pid: z.int().check(z.positive()),
  process_start: z.nullable(z.string()),
  boot_id: z.string(),
  pid_namespace: z.string(),
  host: z.string(),
  taken: z.string(),
  released: z.optional(z.string()),
})

/** Who holds a run: the content of `lease/<epoch>`. */
export type LeaseRecord = z.infer<typeof leaseSchema>

/** One lease as it lies on disk. */
export interface StoredLease {
  epoch: number
  /** Undefined when the content is not a lease: the disk lost it, or somebody edited it. */
  record: LeaseRecord | undefined
  /** When its holder last gave a sign of life, by the file system's clock. */
  heartbeatMs: number
}

export function leaseRecord(machine: Machine = thisMachine(), pid = process.pid): LeaseRecord {
  return {
    pid,
    process_start: processStart(pid) ?? null,
    boot_id: machine.bootId,
    pid_namespace: machine.pidNamespace,
    host: machine.host,
    taken: new Date().toISOString(),
  }
}

/** The lease with the highest epoch: the only one that counts. */
export function readLease(directory: string): StoredLease | undefined {
  const epoch = highestEpoch(directory)
  if (epoch === 0) return undefined
  const path = join(directory, String(epoch))
  try {
    return { epoch, ...readRecord(path) }
  } catch (error) {
    throw asReadError(error, path, { EISDIR: MOVE_AWAY, ESPIPE: MOVE_AWAY })
  }
}

const MOVE_AWAY = 'No run creates one there: move it away, and try again.'

/** What a file holds that is a lease, or may become one. */
export function readRecord(path: string): Omit<StoredLease, 'epoch'> {
  const descriptor = openAtOnce(path)
  try {
    return {
      record: parseLease(readText(descriptor)),
      heartbeatMs: fstatSync(descriptor).mtimeMs,
    }
  } finally {
    closeSync(descriptor)
  }
}

/** A lease record, written and synced under a name that does not count yet. */
export interface Candidate {
  /** Now, by the clock that stamps the heartbeats: the file system's. */
  nowMs: number
  /** Becomes the owner with this epoch, unless another process took it first. */
  link(epoch: number): boolean
  /** Removes the uncounted name. */
  discard(): void
}

/**
 * Prepares to take a lease.
 *
 * The record is whole before `link(2)` gives it its number, and of several
 * processes that link the same number the kernel lets one succeed.
 */
export function writeCandidate(directory: string, record: LeaseRecord): Candidate {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `.${randomBytes(8).toString('hex')}.tmp`)
  try {
    writeNew(path, leaseText(record), { mode: 0o600, durable: true })
  } catch (error) {
    rmSync(path, { force: true }) // on a full disk the empty file is there
    throw error
  }
  return {
    nowMs: statSync(path).mtimeMs,
    link: (epoch) => linked(path, join(directory, String(epoch))),
    discard: () => unlinkSync(path), // rmSync loads what removes whole trees
  }
}

function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    throw asWriteError(
      SAYS_NO_LINKS.has(code) ? Object.assign(error as Error, { code: 'ENOTSUP' }) : error,
      to,
    )
  }
}

/** What file systems without hard links answer; the file could be made there, so it is nobody's permission that is missing. */
const SAYS_NO_LINKS = new Set(['EPERM', 'EOPNOTSUPP', 'ENOTSUP', 'ENOSYS'])

export function leaseText(record: LeaseRecord): string {
  return `${JSON.stringify(record)}\n`
}

function highestEpoch(directory: string): number {
  let highest = 0
  for (const name of namesIn(directory)) {
    if (/^[1-9]\d{0,14}$/.test(name)) highest = Math.max(highest, Number(name))
  }
  return highest
}

function parseLease(text: string): LeaseRecord | undefined {
  try {
    return leaseSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined // no JSON: the caller judges such a lease by its heartbeat alone
  }
}
