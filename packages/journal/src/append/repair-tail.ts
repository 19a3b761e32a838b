import { closeSync, fsyncSync, ftruncateSync, openSync, readSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '@delta/durable'
import { recordStamp } from '../files/record-name.js'
import { syncData, writeWhole } from '../files/write.js'
import type { Scan } from './scan.js'

/** What `openJournal` took off the end of a journal, and where the bytes are kept. */
export interface RepairedTail {
  tornBytes: number
  /** Path of a file beside the journal. */
  keptIn: string
}

const CHUNK_BYTES = 1 << 20

/**
 * Makes the end of a journal fit for appending.
 *
 * A last event without its newline is completed. A torn tail is first kept in
 * `journal.torn-<time>` beside the journal and only then cut off, so a crash
 * between the two loses nothing and the next open repairs again.
 */
export function repairTail(descriptor: number, path: string, scan: Scan): RepairedTail | undefined {
  const { offset, size } = scan.remainder
  if (size === 0) return undefined
  if (scan.unfinished) {
    writeWhole(descriptor, Buffer.from('\n'), path)
    syncData(descriptor, path)
    return undefined
  }
  const keptIn = join(dirname(path), `journal.torn-${recordStamp(new Date())}`)
  keep(descriptor, offset, keptIn)
  ftruncateSync(descriptor, offset)
  syncData(descriptor, path)
  return { tornBytes: size, keptIn }
}

function keep(from: number, offset: number, path: string): void {
  const to = openSync(path, 'wx', 0o600)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = offset; ; ) {
      const bytesRead = readSync(from, chunk, 0, CHUNK_BYTES, at)
      if (bytesRead === 0) break
      at += bytesRead
      writeWhole(to, chunk.subarray(0, bytesRead), path)
    }
    fsyncSync(to)
  } catch (error) {
    rmSync(path) // the bytes are still in the journal; half a copy of them would only confuse
    throw error
  } finally {
    closeSync(to)
  }
  syncPath(dirname(path))
}
