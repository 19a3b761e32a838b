import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync } from 'node:fs'
import { type ByteFilter, writeWhole } from '../process/pump.js'
import type { Redactor } from './redactor.js'

const CHUNK_BYTES = 1024 * 1024

/**
 * Takes known secrets out of a file: it is rewritten beside and renamed, if it holds any at all.
 *
 * @throws The system's error when it cannot be read or rewritten; the file is then as it was.
 */
export function redactFile(path: string, known: Redactor): void {
  if (!known.foundIn(chunksOf(path))) return
  const beside = `${path}.redacted`
  try {
    rmSync(beside, { recursive: true, force: true }) // a command may have put a link there, to have another file overwritten
    writeFiltered(path, beside, known.filter())
    renameSync(beside, path)
  } catch (error) {
    rmSync(beside, { force: true }) // on a full disk half a copy only takes room
    throw error
  }
}

function writeFiltered(from: string, to: string, filter: ByteFilter): void {
  const target = openSync(to, 'wx', 0o600)
  try {
    for (const chunk of chunksOf(from)) writeWhole(target, filter.push(chunk))
    writeWhole(target, filter.end())
  } finally {
    closeSync(target)
  }
}

/** The file's bytes, in one buffer that is used again and again. What a command put in its place, a pipe say, may have no end. */
function* chunksOf(path: string): Generator<Buffer> {
  const source = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    if (!fstatSync(source).isFile()) return
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let count = readSync(source, buffer); count > 0; count = readSync(source, buffer)) {
      yield buffer.subarray(0, count)
    }
  } finally {
    closeSync(source)
  }
}
