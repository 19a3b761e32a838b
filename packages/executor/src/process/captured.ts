import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Which part of an output that is too long is kept. */
export type Keep = 'head' | 'tail' | 'both'

/** What a command wrote to one stream. */
export interface CapturedOutput {
  /** All that was written, kept in memory or not. */
  bytes: number
  /** The kept beginning; everything, when nothing was left out. */
  head: Buffer
  /** The kept end; empty when nothing was left out. */
  tail: Buffer
  /** Bytes between `head` and `tail` that are only in the file. */
  omittedBytes: number
  /** `head` and `tail` as UTF-8, with a line in between when bytes were left out. */
  text: string
  /** Where the whole output is, if the caller named a file. */
  path?: string | undefined
}

const NOTHING = Buffer.alloc(0)

export function nothingCaptured(path?: string): CapturedOutput {
  return { bytes: 0, head: NOTHING, tail: NOTHING, omittedBytes: 0, text: '', path }
}

/** Most outputs are shorter: one read then tells their size, too, for a fraction of what `fstatSync` costs. */
const glance = Buffer.allocUnsafeSlow(8 * 1024)

interface CaptureOptions {
  keepBytes: number
  keep: Keep
  path?: string | undefined
}

/**
 * Reads back what a file holds: all of it, or its ends. A command may have set its output to O_DIRECT (`dd oflag=direct`), and
 * so the descriptor that it shares with us: then Linux lets nobody read through it into memory that lies anywhere.
 */
export function captureFile(descriptor: number, options: CaptureOptions): CapturedOutput {
  try {
    return capture(descriptor, options)
  } catch (error) {
    if (process.platform !== 'linux' || (error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  }
  const anew = openSync(`/proc/self/fd/${descriptor}`, 'r')
  try {
    return capture(anew, options)
  } finally {
    closeSync(anew)
  }
}

function capture(descriptor: number, { keepBytes, keep, path }: CaptureOptions): CapturedOutput {
  const seen = readSync(descriptor, glance, 0, glance.length, 0)
  if (seen === 0) return nothingCaptured(path)
  if (seen < glance.length && seen <= keepBytes) {
    const head = Buffer.from(glance.subarray(0, seen))
    return { bytes: seen, head, tail: NOTHING, omittedBytes: 0, text: head.toString('utf8'), path }
  }
  const bytes = fstatSync(descriptor).size
  const { headBytes, tailBytes } = share(bytes, keepBytes, keep)
  const head = readPart(descriptor, 0, headBytes)
  const tail = readPart(descriptor, bytes - tailBytes, tailBytes)
  const omittedBytes = bytes - head.length - tail.length
  return { bytes, head, tail, omittedBytes, text: decodeEnds(head, tail, omittedBytes), path }
}

function share(bytes: number, keepBytes: number, keep: Keep): { headBytes: number; tailBytes: number } {
  if (bytes <= keepBytes) return { headBytes: bytes, tailBytes: 0 }
  if (keep === 'head') return { headBytes: keepBytes, tailBytes: 0 }
  if (keep === 'tail') return { headBytes: 0, tailBytes: keepBytes }
  const headBytes = Math.ceil(keepBytes / 2)
  return { headBytes, tailBytes: keepBytes - headBytes }
}

function readPart(descriptor: number, position: number, length: number): Buffer {
  if (length === 0) return NOTHING
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, position + filled)
    if (count === 0) break // somebody shortened the file meanwhile
    filled += count
  }
  return buffer.subarray(0, filled)
}

function decodeEnds(head: Buffer, tail: Buffer, omittedBytes: number): string {
  if (omittedBytes === 0) return head.toString('utf8') + tail.toString('utf8')
  const marker = `\n[${omittedBytes} bytes left out]\n`
  return withoutSplitEnd(head).toString('utf8') + marker + withoutSplitStart(tail).toString('utf8')
}

/** Drops the first bytes of a UTF-8 character whose last bytes were left out. */
export function withoutSplitEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.subarray(0, bytes.length - back) : bytes
  }
  return bytes
}

/** Drops the last bytes of a UTF-8 character whose first bytes were left out. */
export function withoutSplitStart(bytes: Buffer): Buffer {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.subarray(start)
}

function sequenceLength(leadByte: number): number {
  if (leadByte >= 0xf0) return 4
  return leadByte >= 0xe0 ? 3 : 2
}
