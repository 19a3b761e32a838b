import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Configuration is written by people: a file beyond this is a wrong path, not a configuration. */
const LARGEST_FILE_BYTES = 4 * 1024 * 1024

export type ReadText = { ok: true; text: string } | Unreadable

export interface Unreadable {
  ok: false
  reason: 'missing' | 'directory' | 'unreadable' | 'too-large' | 'not-text'
  /** Completes the sentence "agent.yaml …". */
  message: string
}

/**
 * Reads a text file that a person wrote: UTF-8, at most 4 MB; a byte order mark is taken away.
 *
 * Never throws for what a path can turn out to be.
 */
export function readText(path: string): ReadText {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) // a pipe without a writer must not block
    return readOpened(descriptor)
  } catch (error) {
    return describeFailure(error)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

function readOpened(descriptor: number): ReadText {
  const status = fstatSync(descriptor)
  if (status.isDirectory()) return { ok: false, reason: 'directory', message: 'is a directory, not a file' }
  if (!status.isFile()) return { ok: false, reason: 'unreadable', message: 'is not a regular file' }
  return status.size > LARGEST_FILE_BYTES ? tooLarge(status.size) : decode(readFileSync(descriptor))
}

function decode(bytes: Buffer): ReadText {
  if (bytes.includes(0))
    return { ok: false, reason: 'not-text', message: 'is not a text file: it contains NUL bytes' }
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { ok: false, reason: 'not-text', message: 'is not UTF-8 text; save it as UTF-8' }
  }
}

function tooLarge(bytes: number): ReadText {
  const megabytes = (Math.ceil((bytes / 1024 / 1024) * 10) / 10).toFixed(1) // up, or it seems to have what is allowed
  const limit = LARGEST_FILE_BYTES / 1024 / 1024
  return { ok: false, reason: 'too-large', message: `has ${megabytes} MB; at most ${limit} MB are read` }
}

function describeFailure(error: unknown): ReadText {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return { ok: false, reason: 'missing', message: 'does not exist' }
  if (code === 'EACCES' || code === 'EPERM')
    return { ok: false, reason: 'unreadable', message: 'may not be read by you' }
  if (code === 'ELOOP')
    return { ok: false, reason: 'unreadable', message: 'is a symbolic link that leads to itself' }
  return { ok: false, reason: 'unreadable', message: `cannot be read: ${message}` }
}
