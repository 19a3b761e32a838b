import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** What was added to a file behind the bytes that are known. */
export interface Growth {
  /** False when the known bytes are no longer in the file: somebody edited it, and `added` is all of it. */
  grew: boolean
  /** From the first byte that is not known to the end. */
  added: Buffer
}

/** What is compared at once: small, for after each start of a command the system copies every page that is written to. */
const WINDOW_BYTES = 16 * 1024
const NOTHING = Buffer.alloc(0)

/** Remembers the beginning of a file that should only grow, and compares it byte for byte each time. */
export function knownBytes(path: string) {
  const window = Buffer.allocUnsafe(WINDOW_BYTES)
  let room = Buffer.allocUnsafe(WINDOW_BYTES)
  let length = 0

  /** A missing file is an empty one. Undefined when something else has its name: a pipe would be waited for, a device has no end. */
  function look(): Growth | undefined {
    const descriptor = openIfThere(path)
    if (descriptor === undefined) return changed(NOTHING)
    try {
      const status = fstatSync(descriptor)
      if (!status.isFile()) return undefined
      const { size } = status // what is added meanwhile is for the next look
      return isStillThere(descriptor)
        ? { grew: true, added: readFrom(descriptor, { from: length, size }) }
        : changed(readFrom(descriptor, { from: 0, size }))
    } finally {
      closeSync(descriptor)
    }
  }

  /** Also a file that was never looked at has not changed. */
  function changed(added: Buffer): Growth {
    const grew = length === 0
    length = 0
    return { grew, added }
  }

  function isStillThere(descriptor: number): boolean {
    for (let at = 0; at < length; ) {
      const count = readSync(descriptor, window, 0, Math.min(WINDOW_BYTES, length - at), at)
      if (count === 0 || window.compare(room, at, at + count, 0, count) !== 0) return false
      at += count
    }
    return true
  }

  /** These bytes, which follow the known ones, are known from now on. */
  function remember(bytes: Buffer): void {
    if (length + bytes.length > room.length) {
      const larger = Buffer.allocUnsafe(2 * (length + bytes.length))
      room.copy(larger, 0, 0, length)
      room = larger
    }
    bytes.copy(room, length)
    length += bytes.length
  }

  return {
    look,
    remember,
    get length() {
      return length
    },
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function readFrom(descriptor: number, { from: offset, size }: { from: number; size: number }): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, size - offset))
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(descriptor, bytes, filled, bytes.length - filled, offset + filled)
    if (count === 0) break // shortened meanwhile: the next look will see it
    filled += count
  }
  return bytes.subarray(0, filled)
}
