import type { ChildProcess, StdioOptions } from 'node:child_process'
import { closeSync, constants, fstatSync, ftruncateSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CapturedOutput, captureFile, type Keep } from './captured.js'
import { type ByteFilter, pump } from './pump.js'

export interface ChannelOptions {
  stdin?: string | Uint8Array | undefined
  stdoutPath?: string | undefined
  stderrPath?: string | undefined
  filter?: (() => ByteFilter) | undefined
}

/** The three streams of one command: opened before it starts, read back and closed after it. */
export interface Channels {
  stdio: StdioOptions
  /** `onFailure`: output can no longer be taken, and `drain` will say why. */
  connect(child: ChildProcess, onFailure: () => void): void
  /** Waits for what is still on its way once the process has ended. */
  drain(): Promise<void>
  /** What both files hold by now. */
  writtenBytes(): number
  capture(options: { keepBytes?: number | undefined; keep?: Keep | undefined }): {
    stdout: CapturedOutput
    stderr: CapturedOutput
  }
  close(): void
}

const { O_APPEND, O_CREAT, O_RDWR } = constants
const DEFAULT_KEEP_BYTES = 1024 * 1024

/**
 * Opens the streams of a command.
 *
 * Plainly, each is a file descriptor the command writes to (or reads from) by itself: no byte
 * passes through this process, and nothing has to be waited for when the command has ended.
 * With a `filter`, output comes through a pipe, is filtered and then stored, and input goes
 * through a pipe too, so that nothing unfiltered touches the disk.
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
    const { stdio, connect, drain } = options.filter
      ? piped(options.stdin, [stdout, stderr], options.filter)
      : direct(options.stdin === undefined ? 'ignore' : remember(inputFile(options.stdin)), [stdout, stderr])
    return {
      stdio,
      connect,
      drain,
      writtenBytes: () => fstatSync(stdout).size + fstatSync(stderr).size,
      capture: ({ keepBytes = DEFAULT_KEEP_BYTES, keep = 'both' }) => ({
        stdout: captureFile(stdout, { keepBytes, keep, path: options.stdoutPath }),
        stderr: captureFile(stderr, { keepBytes, keep, path: options.stderrPath }),
      }),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

type Streams = Pick<Channels, 'stdio' | 'connect' | 'drain'>

function direct(input: 'ignore' | number, [stdout, stderr]: [number, number]): Streams {
  return { stdio: [input, stdout, stderr], connect: () => undefined, drain: async () => undefined }
}

function piped(
  stdin: string | Uint8Array | undefined,
  [stdout, stderr]: [number, number],
  filter: () => ByteFilter,
): Streams {
  const pumps: { drain(): Promise<void> }[] = []
  return {
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    connect(child, onFailure) {
      child.stdin?.on('error', () => undefined) // EPIPE: a command need not read what it is given
      if (stdin !== undefined) child.stdin?.end(stdin)
      if (child.stdout) pumps.push(pump(child.stdout, stdout, { filter: filter(), onFailure }))
      if (child.stderr) pumps.push(pump(child.stderr, stderr, { filter: filter(), onFailure }))
    },
    async drain() {
      await Promise.all(pumps.map((each) => each.drain()))
    },
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
  let written = 0
  // At explicit positions, which leaves the offset that the command will share at 0.
  while (written < bytes.length)
    written += writeSync(descriptor, bytes, written, bytes.length - written, written)
  return descriptor
}

/** How the names of files begin that nobody is to find. */
export const TEMPORARY_NAME = 'delta-stream-'

let namesGiven = 0

/**
 * A file that is gone with its last descriptor, also when this process is killed later: node cannot open one without a
 * name, so that only a kill between the two calls leaves an empty file behind.
 */
function openNameless(flags: 'ax+' | 'wx+'): number {
  const unique = `${process.pid}-${namesGiven++}-${Math.random().toString(36).slice(2)}`
  const path = join(tmpdir(), `${TEMPORARY_NAME}${unique}`)
  const descriptor = openSync(path, flags, 0o600)
  unlinkSync(path)
  return descriptor
}
