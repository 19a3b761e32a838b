import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '@delta/durable'
import { asReadError, JournalError } from './errors.js'
import { LARGEST_TEXT_BYTES, replaceFile, syncName, writing } from './files.js'
import { runPaths } from './run-paths.js'

/** The images and files of a run's messages: `io/blobs/<sha256>`, each once. An event or a request names them. */
export interface BlobStore {
  /**
   * Keeps bytes, before the event that names them is appended. Bytes that are there already are not written again.
   *
   * @returns Their SHA-256, in hexadecimal.
   * @throws {JournalError} `ERR_JOURNAL_WRITE`, `ERR_RUN_LOST`, `ERR_JOURNAL_CLOSED`.
   */
  write(bytes: Uint8Array): string
  /** As `readBlob`. */
  read(sha256: string): Uint8Array
}

/** @param options.fence - Called before something is written; throws when this writer has lost the right to write. */
export function openBlobs(directory: string, options: { sync: boolean; fence: () => void }): BlobStore {
  const { blobs } = runPaths(directory)

  function write(bytes: Uint8Array): string {
    options.fence()
    const sha256 = hash('sha256', bytes)
    const path = join(blobs, sha256)
    if (mkdirIfMissing(blobs) && options.sync) syncName(blobs)
    if (!holds(directory, sha256)) replaceFile(path, bytes, { sync: options.sync })
    else if (options.sync) syncName(path) // whoever wrote it may have been killed before it did
    return sha256
  }

  return { write, read: (sha256) => readBlob(directory, sha256) }
}

/** True when it was missing. */
function mkdirIfMissing(directory: string): boolean {
  return writing(directory, () => mkdirSync(directory, { recursive: true, mode: 0o700 })) !== undefined
}

function holds(directory: string, sha256: string): boolean {
  try {
    return readBlob(directory, sha256) !== undefined
  } catch {
    return false // missing, or damaged from outside: writing it says what is in the way
  }
}

/**
 * The bytes of an image or file that an event or a request of a run names. The run need not be open.
 *
 * @param sha256 - The part's `blob`.
 * @throws {JournalError} `ERR_BLOB_NOT_FOUND`: there is no such file, or this is no SHA-256. `ERR_BLOB_CORRUPT`: the file holds
 *   other bytes. `ERR_JOURNAL_READ`.
 *
 * @example
 * const png = readBlob('/work/.delta/20261120_093000_1a2b3c', part.blob)
 */
export function readBlob(runDirectory: string, sha256: string): Uint8Array {
  const { blobs } = runPaths(runDirectory)
  const path = join(blobs, sha256)
  const bytes = /^[0-9a-f]{64}$/.test(sha256) ? readBytes(path) : undefined
  if (bytes === undefined)
    throw new JournalError(
      'ERR_BLOB_NOT_FOUND',
      `${blobs}: There is no image or file ${JSON.stringify(sha256)}.\nPut the file back from a copy of the run. Without it, requests that hold it cannot be made.`,
      { path },
    )
  if (hash('sha256', bytes) === sha256) return bytes
  throw new JournalError(
    'ERR_BLOB_CORRUPT',
    `${path}: The image or file has changed: its bytes do not have the SHA-256 that is its name.\nPut the file back from a copy of the run.`,
    { path },
  )
}

function readBytes(path: string): Buffer | undefined {
  try {
    return readIfThere(path, { mostBytes: LARGEST_TEXT_BYTES })
  } catch (error) {
    throw asReadError(error, path)
  }
}
