import { existsSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Holder } from '@delta/durable'
import type { JournalError } from './errors.js'
import { replaceFile } from './files.js'
import { foldRun } from './fold.js'
import {
  blockedPathError,
  checkLayout,
  keepPrivate,
  makeRunDirectory,
  ownerNotice,
  refuseLinkedRun,
} from './layout.js'
import { busyError, type Lease, takeLease, whoHolds } from './lease.js'
import { migrateRun } from './migrate.js'
import { runEventSchema } from './old-formats.js'
import { streamJournal } from './read.js'
import { emptyRunError, notFound } from './read-runs.js'
import { type HeldRun, holdRun, type Run } from './run.js'
import { type RunPaths, runPaths } from './run-paths.js'
import { DELTA_DIRECTORY } from './runs-directory.js'

/** How a run is taken and written. */
export interface OpenRunOptions {
  /** Take the run from a live owner, too: one on this machine is ended first. */
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
 * @throws {JournalError} `ERR_RUN_BUSY`: another process writes it, or its lease files were deleted, so that nothing tells.
 *   `ERR_JOURNAL_CORRUPT`: damage no crash makes. `ERR_RUN_EMPTY`: it never began.
 *   `ERR_RUN_NOT_FOUND`, `ERR_LAYOUT_NEWER`, `ERR_JOURNAL_WRITE`.
 */
export async function openRun(runDirectory: string, options: OpenRunOptions = {}): Promise<Run> {
  const { force = false, sync = true, workDirectory } = options
  const named = resolve(runDirectory)
  if (!existsSync(named)) throw notFound(named)
  refuseLinkedRun(named)
  checkLayout(dirname(named))
  const migration = migrateRun(named)
  const directory = migration?.directory ?? named
  if (!existsSync(runPaths(directory).journal)) throw emptyRunError(directory)
  const blocked = blockedPathError(directory)
  if (blocked !== undefined) throw blocked

  const above = force ? await lastEpochIn(directory) : undefined
  const lease = await takeLease(runPaths(directory).lease, { force, above })
  const run = open(directory, lease, { sync, workDirectory })
  if (run.lastEpoch >= lease.epoch) throw giveBack(run)
  removeLeftovers(directory, lease)
  if (isInDelta(directory)) keepPrivate(dirname(directory), { sync })
  const notices = [ownerNotice(dirname(directory)), migration?.notice]
  run.notices.unshift(...notices.filter((notice) => notice !== undefined))
  return run
}

function isInDelta(runDirectory: string): boolean {
  return basename(dirname(runDirectory)) === DELTA_DIRECTORY
}

/**
 * Gives back a lease whose number the journal already has: an owner of that number may live, and neither would notice the
 * other. Its file goes, too, so that the next attempt ends in the same way.
 *
 * @returns The error.
 */
function giveBack(run: HeldRun): JournalError {
  rmSync(join(run.paths.lease, String(run.epoch)), { force: true })
  run.close()
  const { pid, host } = run.summary().metadata
  const who = pid === null ? 'its last owner' : `process ${pid}${host === null ? '' : ` on ${host}`}`
  const why = `Its lease files were deleted, so nothing tells whether ${who} still writes it`
  return busyError(run.directory, `${run.directory}: ${why}.\nTake the run if you know that it is gone.`)
}

/** The number of the last owner that the journal names: without lease files, the next one must be above it. */
async function lastEpochIn(directory: string): Promise<number> {
  const fold = foldRun()
  for await (const event of streamJournal(runPaths(directory).journal, { schema: runEventSchema }))
    fold.add(event)
  return fold.lastEpoch
}

type Holding = Parameters<typeof holdRun>[2]

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
  const isElsewhere = isUnseen(takenFrom)
  if (isElsewhere) copyToNewInode(runPaths(directory))

  const run = holdRun(directory, lease, holding)
  const who = whoHolds(takenFrom)
  run.notices.unshift(
    isElsewhere
      ? `The run was taken from ${who}, which cannot be seen from here; it goes on in a copy of the journal.`
      : `The run was taken over from ${who}, which ${takenFrom.state === 'alive' ? 'was ended' : 'ended without releasing it'}.`,
  )
  return run
}

/** On another machine, in another container or of another boot: nothing tells whether it has ended. */
function isUnseen({ state }: Holder): boolean {
  return state === 'remote-fresh' || state === 'remote-expired'
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
  const paths = runPaths(directory)
  const { lease: leases, interaction, secrets, hooks, parts, blobs, invocations, toolExecutions } = paths
  const nowMs = modifiedAt(join(leases, String(lease.epoch))) // by the clock of the file system
  const isOld = (path: string) => nowMs - modifiedAt(path) > SURELY_LEFT_MS
  const isGone = lease.takenFrom === undefined || !isUnseen(lease.takenFrom)

  const replacedIn = [leases, dirname(parts), invocations, toolExecutions, blobs, hooks, interaction, secrets]
  for (const each of [directory, ...replacedIn])
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
