import { writeFileSync } from 'node:fs'
import { readIfThere } from '@delta/durable'
import { damaged } from '../errors.js'

/**
 * Reads a file of a session. A pipe in its place is not waited for.
 *
 * @throws {SessionError} `ERR_SESSION_DAMAGED`: it is missing.
 */
export function readWhole(path: string): Buffer {
  const bytes = readIfThere(path)
  if (bytes === undefined) throw damaged(path)
  return bytes
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
