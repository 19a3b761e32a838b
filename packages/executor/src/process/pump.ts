import { writeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * Changes bytes on their way from a command to its file. `push` may hold bytes back until
 * it has seen what follows; `end` returns those.
 */
export interface ByteFilter {
  push(chunk: Buffer): Buffer
  end(): Buffer
}

/** More than a kernel holds back in one pipe. */
const PIPE_BYTES = 4 * 1024 * 1024

/**
 * Copies a command's pipe into a file, through a filter.
 *
 * `drain` is called when the command has ended. What it wrote is then in the pipe, so once a
 * whole turn of the event loop brings nothing more, everything is here. A grandchild that goes
 * on writing is cut off, after no more bytes than a pipe can hold. `drain` throws what the
 * filter or the disk threw; `onFailure` is called as soon as one of them did.
 */
export function pump(
  source: Readable,
  descriptor: number,
  { filter, onFailure }: { filter: ByteFilter; onFailure: () => void },
): { drain(): Promise<void> } {
  let received = 0
  let ended = false
  let failure: unknown
  source.on('data', (chunk: Buffer) => {
    received += chunk.length
    try {
      writeWhole(descriptor, filter.push(chunk))
    } catch (error) {
      failure = error
      source.destroy()
      onFailure()
    }
  })
  source.on('error', () => undefined) // ECONNRESET of a killed command: what came before it counts
  source.once('close', () => {
    ended = true
  })

  return {
    async drain() {
      const limit = received + PIPE_BYTES
      for (let before = -1; !ended && before < received && received < limit; ) {
        before = received
        await nextTurn() // the rest of this turn
        await nextTurn() // a whole one, in which every readable pipe is read
      }
      source.destroy()
      if (failure !== undefined) throw failure
      writeWhole(descriptor, filter.end())
    },
  }
}

/** Writes all bytes: a disk that is nearly full takes a part of them. */
export function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}
