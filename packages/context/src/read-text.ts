import { readFileSync, statSync } from 'node:fs'

/** A context window of a million tokens holds about this much; what is larger is not meant for a model. */
const LARGEST_BYTES = 16 * 1024 * 1024

export type ReadText = { ok: true; text: string } | { ok: false; missing: boolean; message: string }

/**
 * Reads a file that is meant for a model: UTF-8 text, at most 16 MB, without its byte order mark.
 * Synchronously: a small file takes a fifteenth of what a promise and its thread do, in every iteration.
 */
export function readText(path: string): ReadText {
  try {
    const status = statSync(path)
    if (status.isDirectory()) return refuse('is a directory, not a file')
    if (!status.isFile()) return refuse('is not a regular file')
    if (status.size > LARGEST_BYTES)
      return refuse(`has ${megabytes(status.size)} MB; at most ${megabytes(LARGEST_BYTES)} MB are read`)
    return decode(readFileSync(path))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR')
      return { ok: false, missing: true, message: 'does not exist' }
    return refuse(code === 'EACCES' ? 'may not be read by you' : `cannot be read: ${message}`)
  }
}

function decode(bytes: Buffer): ReadText {
  if (bytes.includes(0)) return refuse('is not a text: it contains NUL bytes')
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return refuse('is not UTF-8 text')
  }
}

function refuse(message: string): ReadText {
  return { ok: false, missing: false, message }
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0)
}
