import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { type Bytes, pathOf } from './bytes.js'
import type { Slices } from './slices.js'
import { codeOf, isGone, isRefusal, LARGEST_FILE, type Status, statusAt, statusOf } from './walk.js'

/** The contents of a file, or the target of a link, and the status they belong to. */
export interface Contents {
  status: Status
  bytes: Buffer
}

/**
 * Reads a file or link that the walk has seen. One that changes under our hands, or is another by now, is read once more.
 *
 * @throws The system's error where it is not the file's own, such as `EIO`.
 */
export async function readEntry(
  place: Bytes,
  seen: Status,
  slices: Slices,
): Promise<Contents | 'gone' | 'unreadable' | 'changing'> {
  const first = await readOnce(place, seen, slices)
  if (first !== 'changing') return first
  const again = statusAt(place)
  if (typeof again === 'string') return again
  const isSameKind = seen.kind === 'file' ? again.isFile() : again.isSymbolicLink()
  if (!isSameKind || again.size > LARGEST_FILE) return 'changing'
  return readOnce(place, statusOf(again), slices)
}

async function readOnce(
  place: Bytes,
  seen: Status,
  slices: Slices,
): Promise<Contents | 'unreadable' | 'changing'> {
  const now = Date.now()
  try {
    const contents = seen.kind === 'link' ? readLink(place, seen) : await readFile(place, seen, slices)
    if (contents === 'changing') return contents
    const isFresh = now - Number(contents.status.ctimeNs) / 1e6 < FRESH_MS
    return { ...contents, status: { ...contents.status, isFresh } }
  } catch (error) {
    if (isReplaced(error)) return 'changing'
    if (isRefusal(error)) return 'unreadable'
    throw error
  }
}

/** More than a tick of the clock that stamps files. */
const FRESH_MS = 10

/** What a system call says when the file is gone, or is a link, a socket or a file by now. */
function isReplaced(error: unknown): boolean {
  return isGone(error) || ['ELOOP', 'ENXIO', 'EINVAL'].includes(codeOf(error) ?? '')
}

function readLink(place: Bytes, status: Status): Contents {
  return { status, bytes: readlinkSync(pathOf(place), 'buffer') }
}

/** The opened file must be the one that the walk saw: a link is not followed, and a pipe in its place does not block. */
async function readFile(place: Bytes, seen: Status, slices: Slices): Promise<Contents | 'changing'> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = openSync(pathOf(place), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const before = fstatSync(file, { bigint: true })
    if (!before.isFile() || before.ino !== seen.inode || before.size > LARGEST_FILE) return 'changing'
    const bytes = Buffer.allocUnsafe(Number(before.size))
    const length = await fill(bytes, file, slices)
    const after = fstatSync(file, { bigint: true })
    const isSame = after.size === before.size && after.mtimeNs === before.mtimeNs && length === bytes.length
    return isSame ? { status: statusOf(before), bytes } : 'changing'
  } finally {
    closeSync(file)
  }
}

const PIECE = 1 << 20

/** @returns How many bytes the file had. */
async function fill(bytes: Buffer, file: number, slices: Slices): Promise<number> {
  let length = 0
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, Math.min(PIECE, bytes.length - length), length)
    if (count === 0) break
    length += count
    const pause = slices.pause()
    if (pause) await pause
  }
  return length
}
