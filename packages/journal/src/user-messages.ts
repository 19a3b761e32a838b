import type { FileHandle } from 'node:fs/promises'
import { eventProblem } from './check.js'
import type { StoredEvent } from './event.js'

/** Where the USER_MESSAGEs of a journal lie, up to `scannedTo`. Only time is lost when it is forgotten. */
interface Index {
  inode: number
  scannedTo: number
  /** The last bytes before `scannedTo`: after an edit by hand they are others. */
  mark: Buffer
  found: { offset: number; length: number }[]
}

const indexes = new Map<string, Index>()
const NEEDLE = Buffer.from('"USER_MESSAGE"')
const CHUNK_BYTES = 1 << 20
const MARK_BYTES = 128

/**
 * The USER_MESSAGEs before `end`, in order.
 *
 * The first call of a process looks through the file once, later ones only through
 * what was added. The messages themselves are read anew each time, and the index
 * is thrown away when the file is no longer the one it was made from.
 */
export async function readUserMessages(file: FileHandle, path: string, end: number): Promise<StoredEvent[]> {
  const { ino } = await file.stat()
  const known = indexes.get(path)
  const index =
    known && (await isCurrent(known, file, ino))
      ? known
      : { inode: ino, scannedTo: 0, mark: Buffer.alloc(0), found: [] }
  if (end > index.scannedTo) await scan(index, file, end)
  indexes.set(path, index)

  const events: StoredEvent[] = []
  for (const { offset, length } of index.found) {
    if (offset >= end) break
    const event = parse(await readAt(file, offset, length))
    if (event === undefined) {
      indexes.delete(path) // edited in place: look again, from the beginning
      return readUserMessages(file, path, end)
    }
    events.push(event)
  }
  return events
}

async function isCurrent(index: Index, file: FileHandle, inode: number): Promise<boolean> {
  if (index.inode !== inode) return false
  const now = await readAt(file, index.scannedTo - index.mark.length, index.mark.length)
  return now.equals(index.mark)
}

async function scan(index: Index, file: FileHandle, end: number): Promise<void> {
  let rest: Buffer = Buffer.alloc(0)
  for (let at = index.scannedTo; at < end; ) {
    const chunk = await readAt(file, at, Math.min(CHUNK_BYTES, end - at))
    if (chunk.length === 0) break
    const start = at - rest.length
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const whole = bytes.lastIndexOf(0x0a) + 1
    for (const found of findMessages(bytes.subarray(0, whole))) {
      index.found.push({ offset: start + found.offset, length: found.length })
    }
    rest = bytes.subarray(whole)
    at += chunk.length
  }
  index.scannedTo = end
  index.mark = await readAt(file, Math.max(0, end - MARK_BYTES), Math.min(MARK_BYTES, end))
}

function findMessages(lines: Buffer): { offset: number; length: number }[] {
  const found: { offset: number; length: number }[] = []
  for (let at = lines.indexOf(NEEDLE); at !== -1; ) {
    const offset = lines.lastIndexOf(0x0a, at) + 1
    const length = lines.indexOf(0x0a, at) - offset
    if (parse(lines.subarray(offset, offset + length))) found.push({ offset, length })
    at = lines.indexOf(NEEDLE, offset + length)
  }
  return found
}

/** Undefined when the line only mentions the word. */
function parse(line: Buffer): StoredEvent | undefined {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    const isMessage = eventProblem(value) === undefined && (value as StoredEvent).type === 'USER_MESSAGE'
    return isMessage ? (value as StoredEvent) : undefined
  } catch {
    return undefined // not JSON any more, so not the message it was
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(bytes, 0, length, offset)
  return bytes.subarray(0, bytesRead)
}
