import { type Dirent, lstatSync, readdirSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readLockFile } from '@delta/durable'
import type { Lease } from './lease.js'
import { runPaths } from './paths.js'

/** No writer takes so long between writing a file beside another and renaming it. */
const SURELY_LEFT_MS = 24 * 60 * 60 * 1000

const BESIDE_A_FILE = /\.[0-9a-f]{8}\.tmp$/
const BESIDE_THE_RUN = /^(LATEST|VERSION)\.[0-9a-f]{8}\.tmp$/
const CANDIDATE = /^\.[0-9a-f]{16}\.tmp$/

/**
 * Removes what writers of this run have left that were killed between writing a file and renaming it. Some of it may hold
 * what was to be erased with the run's end.
 *
 * Whoever holds the lease is alone in replacing the run's files. But others may be after the lease, or begin runs beside this
 * one, and an owner that cannot be seen from here may live: of theirs goes what names a writer that is gone, or is a day old.
 * What cannot be looked at or removed is in nobody's way, and stays.
 */
export function removeLeftovers(directory: string, lease: Lease): void {
  const paths = runPaths(directory)
  const nowMs = modifiedAt(join(paths.lease, String(lease.epoch))) ?? 0
  const isOld = (path: string) => nowMs - (modifiedAt(path) ?? nowMs) > SURELY_LEFT_MS
  const isGone = lease.takenFrom === undefined || !/^remote-/.test(lease.takenFrom.state)

  const { interaction, secrets, hooks, parts } = paths
  for (const each of [directory, paths.lease, dirname(parts), hooks, interaction, secrets])
    removeFrom(each, BESIDE_A_FILE, (path) => isGone || isOld(path))
  removeFrom(paths.lease, CANDIDATE, (path) => isOfTheDead(path) || isOld(path))
  const announcesUs = (path: string) => readFileSync(path, 'utf8') === `${basename(directory)}\n`
  removeFrom(dirname(directory), BESIDE_THE_RUN, (path) => (isGone && announcesUs(path)) || isOld(path))
}

/** @param isLeft - May fail, as when its owner has removed the file. */
function removeFrom(directory: string, names: RegExp, isLeft: (path: string) => boolean): void {
  for (const entry of entriesIn(directory)) {
    if (!entry.isFile() || !names.test(entry.name)) continue
    const path = join(directory, entry.name)
    try {
      if (isLeft(path)) unlinkSync(path)
    } catch {
      // it may be gone by now, or not be ours to remove
    }
  }
}

/** Nothing of what is no directory, or a link to one elsewhere. */
function entriesIn(directory: string): Dirent[] {
  try {
    if (!lstatSync(directory).isDirectory()) return []
    return readdirSync(directory, { withFileTypes: true })
  } catch {
    return []
  }
}

function modifiedAt(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs
}

function isOfTheDead(candidate: string): boolean {
  return readLockFile(candidate).state === 'dead'
}
