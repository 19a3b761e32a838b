import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs'

/** To read what should be a file. A pipe in its place would otherwise keep whoever opens it waiting for ever, and Ctrl+C with them. */
export const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

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

/** The whole file; of a pipe in its place nothing, or what somebody has just written. */
export function readTextAtOnce(path: string): string {
  const file = openSync(path, READ_AT_ONCE)
  try {
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Undefined when there is no such file. */
export function openIfThere(path: string): number | undefined {
  try {
    return notAPipe(openSync(path, READ_AT_ONCE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** A pipe has no size, and would pass for an empty file. */
function notAPipe(file: number): number {
  if (!fstatSync(file).isFIFO()) return file
  closeSync(file)
  throw Object.assign(new Error('a pipe is not read'), { code: 'ESPIPE', syscall: 'open' })
}
