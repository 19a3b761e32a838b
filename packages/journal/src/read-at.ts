import { openSync, readSync } from 'node:fs'

/** Fills as much of a buffer as the file has behind `position`. @returns How many bytes. */
export function readInto(file: number, buffer: Buffer, position: number): number {
  let filled = 0
  while (filled < buffer.length) {
    const count = readSync(file, buffer, filled, buffer.length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** The bytes from `position` on, fewer at the end of the file. */
export function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length)
  return bytes.subarray(0, readInto(file, bytes, position))
}

/** Undefined when there is no such file. */
export function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
