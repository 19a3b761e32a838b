import { constants } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { LARGEST_TEXT_BYTES } from '@delta/journal/internal'
import { pathInRun } from './path-in-run.js'

/** A piece of what a command printed. */
export interface OutputPiece {
  stream: 'stdout' | 'stderr'
  /** The first byte. */
  from: number
  /** How many at most. */
  bytes: number
}

/** Reads a piece of what a command printed, from its record. Empty if nothing is recorded. */
export async function readOutput(
  runDirectory: string,
  ref: string | null | undefined,
  { stream, from, bytes }: OutputPiece,
): Promise<Buffer> {
  if (!ref) return Buffer.alloc(0)
  const path = pathInRun(runDirectory, ref)
  const text = path === undefined ? undefined : await recordedText(path, stream)
  if (text !== undefined) return Buffer.from(text).subarray(from, from + bytes)
  const beside = pathInRun(runDirectory, ref.replace(/\.json$/, `.${stream}`))
  const kept = beside === undefined ? undefined : await open(beside, O_READ).catch(() => undefined)
  if (kept === undefined) return Buffer.alloc(0)
  try {
    const { bytesRead, buffer } = await kept.read(Buffer.alloc(bytes), 0, bytes, from)
    return buffer.subarray(0, bytesRead)
  } finally {
    await kept.close()
  }
}

/** How much a command printed. Bytes; 0 if nothing is recorded. */
export async function outputBytes(
  runDirectory: string,
  ref: string | null | undefined,
  stream: OutputPiece['stream'],
): Promise<number> {
  if (!ref) return 0
  const path = pathInRun(runDirectory, ref)
  const text = path === undefined ? undefined : await recordedText(path, stream)
  if (text !== undefined) return Buffer.byteLength(text)
  const beside = pathInRun(runDirectory, ref.replace(/\.json$/, `.${stream}`))
  return beside === undefined ? 0 : (await stat(beside)).size
}

/** A command may have put a pipe or a link there. */
const O_READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW

/** Undefined without a record: one of more than 256 MiB counts as none. */
async function recordedText(path: string, stream: OutputPiece['stream']): Promise<string | undefined> {
  const file = await open(path, O_READ).catch(() => undefined)
  try {
    if (file === undefined || (await file.stat()).size > LARGEST_TEXT_BYTES) return undefined
    const text: unknown = JSON.parse(await file.readFile('utf8'))[stream]?.text
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  } finally {
    await file?.close()
  }
}
