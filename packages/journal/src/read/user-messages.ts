import { fstatSync } from 'node:fs'
import { isEvent } from '../events/check.js'
import type { StoredEvent } from '../events/event.js'
import { readAt, readInto } from '../files/read-at.js'
import { isObject } from '../is-object.js'
import { corrupt, parseJson } from './parse.js'

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
const NEWLINE = 0x0a

/**
 * The USER_MESSAGEs before `end`, in order.
 *
 * The first call of a process looks through the file once, later ones only through
 * what was added. The messages themselves are read anew each time, and the index
 * is thrown away when the file is no longer the one it was made from.
 *
 * @throws {JournalError} `ERR_JOURNAL_CORRUPT`, without a line: only a reader of the whole file can judge it.
 */
export function readUserMessages(file: number, path: string, end: number): StoredEvent[] {
  const { ino } = fstatSync(file)
  const known = indexes.get(path)
  const index =
    known && isCurrent(known, file, ino)
      ? known
      : { inode: ino, scannedTo: 0, mark: Buffer.alloc(0), found: [] }
  indexes.delete(path) // a scan that fails leaves nothing half-known behind
  if (end > index.scannedTo) scan(index, file, path, end)
  indexes.set(path, index)

  const events: StoredEvent[] = []
  for (const { offset, length } of index.found) {
    if (offset >= end) break
    const event = parseMessage(readAt(file, offset, length))
    if (!isEvent(event)) {
      indexes.delete(path) // edited in place: look again, from the beginning
      return readUserMessages(file, path, end)
    }
    events.push(event)
  }
  return events
}

function isCurrent(index: Index, file: number, inode: number): boolean {
  if (index.inode !== inode) return false
  const now = readAt(file, index.scannedTo - index.mark.length, index.mark.length)
  return now.equals(index.mark)
}

/** Through one buffer: the memory of a new one for each piece would cost more than looking through it. */
function scan(index: Index, file: number, path: string, end: number): void {
  let buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - index.scannedTo))
  let held = 0 // of a line whose end is not read yet; they stand first in the buffer
  for (let at = index.scannedTo; at < end; ) {
    if (held === buffer.length) buffer = Buffer.concat([buffer], 2 * held)
    const bytesRead = readInto(file, buffer.subarray(held, held + end - at), at)
    if (bytesRead === 0) break
    const bytes = buffer.subarray(0, held + bytesRead)
    if (bytes.includes(0, held)) throw corrupt(path, 0, 'it holds NUL bytes') // a hole: what follows it does not count
    const whole = bytes.lastIndexOf(NEWLINE) + 1
    for (const found of findMessages(bytes.subarray(0, whole), path)) {
      index.found.push({ offset: at - held + found.offset, length: found.length })
    }
    at += bytesRead
    held = bytes.length - whole
    buffer.copyWithin(0, whole, bytes.length)
  }
  index.scannedTo = end
  index.mark = readAt(file, Math.max(0, end - MARK_BYTES), Math.min(MARK_BYTES, end))
}

function findMessages(lines: Buffer, path: string): { offset: number; length: number }[] {
  const found: { offset: number; length: number }[] = []
  for (let at = lines.indexOf(NEEDLE); at !== -1; ) {
    const offset = lines.lastIndexOf(NEWLINE, at) + 1
    const length = lines.indexOf(NEWLINE, at) - offset
    const value = parseMessage(lines.subarray(offset, offset + length))
    if (value && !isEvent(value)) throw corrupt(path, 0, 'it is not a message of today')
    if (value) found.push({ offset, length })
    at = lines.indexOf(NEEDLE, offset + length)
  }
  return found
}

/** Undefined when the line only mentions the word. */
function parseMessage(line: Buffer): object | undefined {
  const value = parseJson(line.toString('utf8'))
  return isObject(value) && value.type === 'USER_MESSAGE' ? value : undefined
}
