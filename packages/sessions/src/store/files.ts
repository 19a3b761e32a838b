import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { damaged, systemCode } from '../errors.js'

/**
 * Reads a file of a session. A pipe in its place is not waited for.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: what is there is no file.
 */
export function readWhole(path: string): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(descriptor).isFile()) throw damaged(path)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Writes a file only its owner can read, and does not wait for the disk. */
export function writePrivately(path: string, data: string | Buffer): void {
  try {
    writeFileSync(path, data, { mode: 0o600 })
  } catch (error) {
    throw withPath(error, path)
  }
}

/** Of a file that is open the system does not say which it is. */
function withPath(error: unknown, path: string): unknown {
  if (error instanceof Error && !error.message.includes(path)) error.message += ` '${path}'`
  return error
}

/** Writes a file only its owner can read, and waits until it is on the disk. */
export function writeDurably(path: string, data: string | Buffer): void {
  const descriptor = openSync(path, 'w', 0o600)
  try {
    const bytes = Buffer.from(data)
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
    fsyncSync(descriptor)
  } catch (error) {
    throw withPath(error, path)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Replaces a file as a whole: a reader sees the old content or the new. After a power cut it may be the old one again.
 * Called with the session locked.
 */
export function replaceFile(path: string, data: string): void {
  const beside = `${path}.new`
  removeFile(beside) // what a crash or a full disk left
  writeDurably(beside, data)
  renameSync(beside, path)
}

/**
 * Makes a directory and those above it that are missing. By hand, because node's own `recursive` never ends where nothing
 * can be made in a directory that exists, as in `/proc`.
 */
export function makeDirectories(path: string): void {
  if (isDirectory(path)) return
  if (!existsSync(dirname(path))) makeDirectories(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isDirectory(path)) throw error // otherwise another process was faster
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Makes a file's bytes, or a directory's entries, survive a power cut. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes a name survive a power cut by syncing the directory that holds it. A directory that may be written but not read
 * cannot be opened for that: it is left to the system.
 */
export function syncName(path: string): void {
  try {
    syncPath(dirname(path))
  } catch (error) {
    if (systemCode(error) !== 'EACCES') throw error
  }
}

/** Removes a file or a link, if it is there. `rmSync` would load what removes whole trees. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
