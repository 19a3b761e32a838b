import { existsSync, lstatSync, readdirSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { replaceFile } from './files.js'
import { checkLayout, keepPrivate, makeRunDirectory, ownerNotice, refuseLinkedRun } from './layout.js'
import {
  endOwnerWithoutLease,
  isWritingWithoutLease,
  type Lease,
  takeLease,
  type Waiting,
  whoHolds,
} from './lease.js'
import { migrateRun } from './migrate.js'
import { blockedPathError, DELTA_DIRECTORY, type RunPaths, runPaths } from './paths.js'
import { emptyRunError, notFound } from './read-runs.js'
import { type HeldRun, holdRun, type Run } from './run.js'

/** How a run is taken and written. */
export interface OpenRunOptions extends Waiting {
  /** Take the run from a live owner too: one on this machine is ended first. */
  force?: boolean | undefined
  /** False: nothing is synced, for throwaway runs. */
  sync?: boolean | undefined
  /** The workspace. Default: the one that holds the run in its `.delta`, or else the one that its first event names. */
  workDirectory?: string | undefined
}

/**
 * Takes an existing run for writing: the lease first, then the journal, whose torn end is set aside.
 *
 * A run of an old layout is first converted beside the old one; `run.directory`
 * and `run.notices` then tell where it goes on.
 *
 * @throws {JournalError} `ERR_RUN_BUSY`: somebody else writes it, nothing was changed.
 *   `ERR_JOURNAL_CORRUPT`: damage no crash makes. `ERR_RUN_EMPTY`: it never began.
 *   `ERR_RUN_NOT_FOUND`, `ERR_LAYOUT_NEWER`, `ERR_JOURNAL_WRITE`.
 */
export async function openRun(runDirectory: string, options: OpenRunOptions = {}): Promise<Run> {
  const { force = false, sync = true, workDirectory, ...waiting } = options
  const named = resolve(runDirectory)
  if (!existsSync(named)) throw notFound(named)
  refuseLinkedRun(named)
  checkLayout(dirname(named))
  const migration = migrateRun(named)
  const directory = migration?.directory ?? named
  if (!existsSync(runPaths(directory).journal)) throw emptyRunError(directory)
  const blocked = blockedPathError(directory)
  if (blocked !== undefined) throw blocked

  const run = await take(directory, { force, sync, workDirectory, ...waiting })
  if (isInDelta(directory)) keepPrivate(dirname(directory), { sync })
  const notices = [ownerNotice(dirname(directory)), migration?.notice]
  run.notices.unshift(...notices.filter((notice) => notice !== undefined))
  return run
}

function isInDelta(runDirectory: string): boolean {
  return basename(dirname(runDirectory)) === DELTA_DIRECTORY
}

type Taking = Waiting & Holding & { force: boolean; above?: number }
type Holding = { sync: boolean; workDirectory: string | undefined }

/**
 * If lease files were deleted by hand, a live owner may hold no lease. Claims an epoch above every epoch in the journal, once
 * no such owner is in the way.
 */
async function take(directory: string, { sync, workDirectory, ...how }: Taking): Promise<Run> {
  const lease = await takeLease(runPaths(directory).lease, how)
  const run = open(directory, lease, { sync, workDirectory })
  const { status, metadata } = run.summary()
  const isWritten = status === 'RUNNING' && isWritingWithoutLease(metadata.pid, run.paths.journal)
  if (!isWritten && run.lastEpoch < lease.epoch) {
    removeLeftovers(directory, lease)
    return run
  }
  run.close()
  if (isWritten && metadata.pid) await endOwnerWithoutLease(directory, metadata.pid, how.force)
  const higher = await take(directory, { ...how, sync, workDirectory, above: run.lastEpoch })
  higher.notices.unshift(...run.notices)
  return higher
}

function open(directory: string, lease: Lease, holding: Holding): HeldRun {
  try {
    makeRunDirectory(directory)
    const run = takeOver(directory, lease, holding)
    const { status, problem } = run.summary()
    if (status !== 'EMPTY') return run
    run.journal.close()
    throw problem ?? emptyRunError(directory)
  } catch (error) {
    lease.release()
    throw error
  }
}

function takeOver(directory: string, lease: Lease, holding: Holding): HeldRun {
  const { takenFrom } = lease
  if (takenFrom === undefined) return holdRun(directory, lease, holding)
  const { state } = takenFrom
  const isElsewhere = state === 'remote-fresh' || state === 'remote-expired'
  if (isElsewhere) copyToNewInode(runPaths(directory))

  const run = holdRun(directory, lease, holding)
  const who = whoHolds(takenFrom)
  run.notices.unshift(
    isElsewhere
      ? `The run was taken from ${who}, which cannot be seen from here; it goes on in a copy of the journal.`
      : `The run was taken over from ${who}, which ${state === 'alive' ? 'was ended' : 'ended without releasing it'}.`,
  )
  return run
}

/**
 * Gives the logs of a run new inodes.
 *
 * An owner that cannot be seen may still hold them open. If it comes back, it writes
 * into files that no longer have a name.
 */
function copyToNewInode({ journal, parts }: Pick<RunPaths, 'journal' | 'parts'>): void {
  for (const path of [journal, parts]) {
    if (existsSync(path)) replaceFile(path, readFileSync(path))
  }
}

/** No writer takes so long between writing a file beside another and renaming it. */
const SURELY_LEFT_MS = 24 * 60 * 60 * 1000

const BESIDE_A_FILE = /\.[0-9a-f]{8}\.tmp$/
const BESIDE_THE_RUN = /^(LATEST|VERSION)\.[0-9a-f]{8}\.tmp$/
const CANDIDATE = /^\.[0-9a-f]{16}\.tmp$/

/**
 * Removes the files that killed writers of this run left between writing and renaming. Some may hold secrets that are
 * erased at the run's end.
 *
 * The holder of the lease is alone in replacing the run's files. But an owner that cannot be seen from here may live, and
 * other processes may be after the lease, or begin runs beside this one: their files go when they are a day old.
 */
function removeLeftovers(directory: string, lease: Lease): void {
  const { lease: leases, interaction, secrets, hooks, parts, blobs } = runPaths(directory)
  const nowMs = modifiedAt(join(leases, String(lease.epoch))) // by the clock of the file system
  const isOld = (path: string) => nowMs - modifiedAt(path) > SURELY_LEFT_MS
  const isGone = lease.takenFrom === undefined || !/^remote-/.test(lease.takenFrom.state)

  for (const each of [directory, leases, dirname(parts), blobs, hooks, interaction, secrets])
    removeFrom(each, BESIDE_A_FILE, (path) => isGone || isOld(path))
  removeFrom(leases, CANDIDATE, isOld)
  removeFrom(dirname(directory), BESIDE_THE_RUN, isOld)
}

/** Looks behind no link. */
function removeFrom(directory: string, names: RegExp, isLeft: (path: string) => boolean): void {
  quietly(() => {
    if (!lstatSync(directory).isDirectory()) return
    for (const name of readdirSync(directory).filter((each) => names.test(each))) {
      const path = join(directory, name)
      quietly(() => lstatSync(path).isFile() && isLeft(path) && unlinkSync(path))
    }
  })
}

/** A file that cannot be looked at or removed stays: it is in nothing's way. */
function quietly(action: () => void): void {
  try {
    action()
  } catch {
    // there is no such directory, its owner has removed the file, or it is not ours to remove
  }
}

function modifiedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
