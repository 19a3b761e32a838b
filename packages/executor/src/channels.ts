import type { ChildProcess, StdioOptions } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

interface ChannelOptions {
  stdin?: string | Uint8Array | undefined
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  filter?: (() => ByteFilter) | undefined
  keepBytes?: number | undefined
  keep?: Keep | undefined
}

/** The three streams of one command: opened before it starts, read back and closed after it. */
export interface Channels {
  stdio: StdioOptions
  /** `onFailure`: output can no longer be stored; `drain` throws why. */
  connect(child: ChildProcess, onFailure: () => void): void
  /** Waits for output that is still in a pipe once the process has ended. */
  drain(): Promise<void>
  /** The current size of both files together. */
  writtenBytes(): number
  capture(): { stdout: CapturedOutput; stderr: CapturedOutput }
  close(): void
}

const { O_APPEND, O_CREAT, O_RDWR } = constants
const DEFAULT_KEEP_BYTES = 1024 * 1024

/**
 * Opens the streams of a command.
 *
 * Without a `filter`, each is a file that the command writes (or reads) by itself: no byte passes through this process, and
 * nothing is left to wait for when the command has ended. With a `filter`, output and input go through pipes, so that nothing
 * unfiltered touches the disk.
 *
 * @throws The system's error when a file cannot be opened.
 */
export function openChannels(options: ChannelOptions): Channels {
  const opened: number[] = []
  const remember = (descriptor: number) => {
    opened.push(descriptor)
    return descriptor
  }
  const close = () => {
    for (const descriptor of opened.splice(0)) closeSync(descriptor)
  }
  try {
    const stdout = remember(openOutput(options.stdoutPath))
    const stderr = remember(openOutput(options.stderrPath))
    const { stdin, filter } = options
    const input = stdin === undefined ? 'ignore' : filter ? 'pipe' : remember(inputFile(stdin))
    const pumps: { drain(): Promise<void> }[] = []
    return {
      stdio: filter ? [input, 'pipe', 'pipe'] : [input, stdout, stderr],
      connect(child, onFailure) {
        child.stdin?.on('error', () => undefined) // EPIPE: a command need not read what it is given
        child.stdin?.end(stdin)
        if (!filter) return
        if (child.stdout) pumps.push(pump(child.stdout, stdout, { filter: filter(), onFailure }))
        if (child.stderr) pumps.push(pump(child.stderr, stderr, { filter: filter(), onFailure }))
      },
      async drain() {
        await Promise.all(pumps.map((each) => each.drain()))
      },
      writtenBytes: () => fstatSync(stdout).size + fstatSync(stderr).size,
      capture: () => ({
        stdout: captureFile(stdout, { ...options, path: options.stdoutPath }),
        stderr: captureFile(stderr, { ...options, path: options.stderrPath }),
      }),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** Appending, so that a command that opens `/dev/stdout` anew cannot leave a hole in it. Deno refuses `O_TRUNC` with `O_APPEND`. */
function openOutput(path: string | undefined): number {
  if (path === undefined) return openNameless('ax+')
  const descriptor = openSync(path, O_RDWR | O_APPEND | O_CREAT, 0o600)
  if (fstatSync(descriptor).size > 0) ftruncateSync(descriptor, 0) // a device has no size and cannot be truncated
  return descriptor
}

function inputFile(content: string | Uint8Array): number {
  const descriptor = openNameless('wx+')
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  // At explicit positions, which leaves the offset that the command will share at 0.
  for (let written = 0; written < bytes.length; )
    written += writeSync(descriptor, bytes, written, bytes.length - written, written)
  return descriptor
}

/** A file without a name, which is gone with its last descriptor. Only a kill between the two calls leaves an empty file behind. */
function openNameless(flags: 'ax+' | 'wx+'): number {
  const path = join(tmpdir(), `delta-stream-${randomUUID()}`)
  const descriptor = openSync(path, flags, 0o600)
  unlinkSync(path)
  return descriptor
}

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
 * `drain` is called when the command has ended. Its output is in the pipe by then, so everything has arrived once a whole
 * turn of the event loop brings nothing more. A grandchild that goes on writing is cut off after as many bytes as a pipe can
 * hold. `drain` throws what the filter or the disk threw; `onFailure` is called as soon as that happens.
 */
function pump(
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

/** Writes all bytes: a nearly full disk accepts a part of them. */
export function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
}

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

interface CaptureOptions {
  keepBytes?: number | undefined
  keep?: Keep | undefined
  path?: string | undefined
}

/**
 * Reads back a file: all of it, or its ends. A command that sets its output to O_DIRECT (`dd oflag=direct`) does so for the
 * descriptor it shares with us; on Linux, reading through that needs aligned memory, so the file is opened anew.
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

function capture(
  descriptor: number,
  { keepBytes = DEFAULT_KEEP_BYTES, keep = 'both', path }: CaptureOptions,
): CapturedOutput {
  const bytes = fstatSync(descriptor).size
  const isWhole = bytes <= keepBytes
  const headBytes = isWhole ? bytes : { head: keepBytes, tail: 0, both: Math.ceil(keepBytes / 2) }[keep]
  const tailBytes = isWhole ? 0 : keepBytes - headBytes
  const head = readPart(descriptor, 0, headBytes)
  const tail = readPart(descriptor, bytes - tailBytes, tailBytes)
  const omittedBytes = bytes - head.length - tail.length
  return { bytes, head, tail, omittedBytes, text: decodeEnds(head, tail, omittedBytes), path }
}

function readPart(descriptor: number, position: number, length: number): Buffer {
  if (length === 0) return NOTHING
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const count = readSync(descriptor, buffer, filled, length - filled, position + filled)
    if (count === 0) break // the file was truncated meanwhile
    filled += count
  }
  return buffer.subarray(0, filled)
}

function decodeEnds(head: Buffer, tail: Buffer, omittedBytes: number): string {
  if (omittedBytes === 0) return head.toString('utf8') + tail.toString('utf8')
  return `${decodeHead(head)}\n[${omittedBytes} bytes left out]\n${decodeTail(tail)}`
}

/** As text, without the first bytes of a character whose last bytes were left out. */
export function decodeHead(bytes: Buffer): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })
}

/** As text, without the last bytes of a character whose first bytes were left out. */
export function decodeTail(bytes: Buffer): string {
  let start = 0
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++
  return bytes.toString('utf8', start)
}
