import {
  chmodSync,
  closeSync,
  fchmodSync,
  futimesSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { type Bytes, bytesOf, pathOf } from './bytes.js'
import { SnapshotError } from './errors.js'
import type { Objects } from './git.js'
import { damaged, join, type Listed, readListing } from './listing.js'
import { readBlobs } from './read-blobs.js'
import { slices } from './slices.js'
import { codeOf } from './walk.js'

/** What was restored: files and links, and the bytes in them. */
export interface Restored {
  files: number
  bytes: number
}

/** A file or link. */
type WithContents = Listed & { blob: string }

/**
 * Writes one root of a snapshot. Everything is checked before anything is written. Links come last, so no path leads through one.
 *
 * @param into - Created, with its parents, unless it is an empty directory, which keeps its own mode.
 * @throws {SnapshotError} `ERR_SNAPSHOT_NOT_EMPTY`, or as `readListing`. The system's error, such as `ENOSPC`: then what was
 *   written so far is there.
 */
export async function restoreSnapshot(
  objects: Objects,
  id: string,
  root: string,
  into: string,
): Promise<Restored> {
  const isThere = isEmptyDirectory(into)
  const listed = await readListing(objects, id, root)
  const directories = listed.filter(({ type }) => type === 'directory')
  const files = listed.filter((each): each is WithContents => each.type === 'file')
  const links = listed.filter((each): each is WithContents => each.type === 'link')
  const targets = await readTargets(objects, links)
  if (directories.length === 0) return { files: 0, bytes: 0 } // the snapshot has no such root

  const top = bytesOf(resolve(into))
  const { pause } = slices()
  mkdirSync(into, { recursive: true, mode: 0o700 })
  for (const { path } of directories.slice(1)) {
    mkdirSync(pathOf(join(top, path)), { mode: 0o700 })
    await pause()
  }
  await writeFiles(objects, top, files)
  for (const [index, { path, mtimeNs }] of links.entries()) {
    const place = pathOf(join(top, path))
    symlinkSync(targets[index] ?? '', place)
    lutimesSync(place, ...times(mtimeNs))
    await pause()
  }
  for (const { path, mode, mtimeNs } of directories.reverse()) {
    if (path === '' && isThere) continue
    const place = pathOf(path === '' ? top : join(top, path))
    chmodSync(place, mode)
    utimesSync(place, ...times(mtimeNs))
    await pause()
  }
  return {
    files: files.length + links.length,
    bytes: [...files, ...links].reduce((sum, { size }) => sum + size, 0),
  }
}

/** False when there is nothing. */
function isEmptyDirectory(into: string): boolean {
  let names: string[]
  try {
    names = readdirSync(into)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
  if (names.length === 0) return true
  const message = `${into} is not empty. A snapshot is never restored over files; name a new directory.`
  throw new SnapshotError('ERR_SNAPSHOT_NOT_EMPTY', message)
}

async function readTargets(objects: Objects, links: WithContents[]): Promise<Buffer[]> {
  const targets = links.map((): Buffer[] => [])
  const ids = links.map(({ blob }) => blob)
  await readBlobs(objects, ids, { onPiece: (index, piece) => targets[index]?.push(piece) })
  return targets.map((pieces) => {
    const target = Buffer.concat(pieces)
    if (target.length === 0 || target.includes(0)) throw damaged('a link has no target')
    return target
  })
}

async function writeFiles(objects: Objects, top: Bytes, files: WithContents[]): Promise<void> {
  let open: number | undefined
  const ids = files.map(({ blob }) => blob)
  try {
    await readBlobs(objects, ids, {
      onBegin: (index) => {
        open = openSync(pathOf(join(top, files[index]?.path ?? '')), 'wx', 0o600)
      },
      onPiece: (_, piece) => {
        for (let written = 0; written < piece.length; ) written += writeSync(open ?? -1, piece, written)
      },
      onEnd: (index) => {
        const file = files[index]
        if (open === undefined || file === undefined) return
        fchmodSync(open, file.mode)
        futimesSync(open, ...times(file.mtimeNs))
        closeSync(open)
        open = undefined
      },
    })
  } finally {
    if (open !== undefined) closeSync(open)
  }
}

/**
 * As Node.js takes times. Node.js 20 cuts to the microsecond, so half of one more keeps the right one; before 1970 it cuts towards
 * the later, and the time may be one microsecond off. A string, for Node.js takes a negative number for now.
 */
function times(mtimeNs: bigint): [string, string] {
  const microseconds = Number(mtimeNs / 1000n)
  const seconds = String((microseconds < 0 ? microseconds : microseconds + 0.5) / 1e6)
  return [seconds, seconds]
}
