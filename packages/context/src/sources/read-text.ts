import { type BigIntStats, closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { type Place, whereItLeads } from './within-workspace.js'

/** A context window of a million tokens holds about this much; what is larger is not meant for a model. */
const LARGEST_BYTES = 16n * 1024n * 1024n

export type ReadText =
  | { ok: true; text: string }
  | { ok: false; missing: boolean; message: string /** What to do. */; hint: string }

/**
 * Reads a file that is meant for a model: UTF-8 text, at most 16 MB, without its byte order mark.
 * Synchronously: a small file takes a fifteenth of what a promise and its thread do, in every iteration.
 */
export function readText(path: string, place: Place): ReadText {
  try {
    return readInPlace(path, place)
  } catch (error) {
    return refuseFor(error as NodeJS.ErrnoException)
  }
}

function readInPlace(path: string, place: Place): ReadText {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe would be waited for
  try {
    const status = fstatSync(file, { bigint: true })
    const elsewhere = whereItLeads(path, place, status)
    if (elsewhere !== undefined)
      return refuse(`is a link that leads out of the workspace, to ${elsewhere}`, INSIDE)
    return readOpen(file, status)
  } finally {
    closeSync(file)
  }
}

function readOpen(file: number, status: BigIntStats): ReadText {
  if (status.isDirectory()) return refuse('is a directory, not a file', 'Name a file in it.')
  if (!status.isFile()) return refuse('is not a regular file', ANOTHER_FILE)
  if (status.size > LARGEST_BYTES) return refuse('is larger than 16 MB', ANOTHER_FILE)
  return decode(readFileSync(file))
}

function refuseFor({ code, message }: NodeJS.ErrnoException): ReadText {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { ok: false, missing: true, message: 'does not exist', hint: CREATE }
  return refuse(`cannot be read: ${message}`, 'Change its permissions, or name another file.')
}

function decode(bytes: Buffer): ReadText {
  if (bytes.includes(0)) return refuse('is not a text: it contains NUL bytes', ANOTHER_FILE)
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return refuse('is not UTF-8 text', ANOTHER_FILE)
  }
}

const CREATE = 'Create the file, or say that it may be missing: on_missing: skip'
const INSIDE = 'A tool may have made it. Copy the file into the workspace, or name it by its own path.'
const ANOTHER_FILE =
  'Name a text file, or write one with a computed_file, of what the model needs of this one.'

function refuse(message: string, hint: string): ReadText {
  return { ok: false, missing: false, message, hint }
}
