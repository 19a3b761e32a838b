import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '@delta/durable'
import { asWriteError } from './errors.js'
import { recordStamp, replaceFile, syncData, syncName, writeWhole } from './files.js'
import { type InspectedLine, inspectJournal } from './inspect.js'
import type { Remainder } from './lines.js'
import type { ReadOptions } from './read.js'
import { type Finding, findingLine, verifyJournal } from './verify.js'

/** What `openJournal` took off the end of a journal, and where the bytes are kept. */
export interface RepairedTail {
  tornBytes: number
  /** Path of a file beside the journal. */
  keptIn: string
}

const CHUNK_BYTES = 1 << 20

/**
 * Makes the end of a journal fit for appending.
 *
 * A last event without its newline is completed. A torn tail is first kept in
 * `journal.torn-<time>` beside the journal and only then cut off, so a crash
 * between the two loses nothing and the next open repairs again.
 */
export function repairTail(
  descriptor: number,
  path: string,
  { remainder, unfinished }: { remainder: Remainder; unfinished: boolean },
): RepairedTail | undefined {
  const { offset, size } = remainder
  if (size === 0) return undefined
  if (unfinished) {
    writeWhole(descriptor, Buffer.from('\n'), path)
    syncData(descriptor, path)
    return undefined
  }
  const keptIn = join(dirname(path), `journal.torn-${recordStamp(new Date())}`)
  keep(descriptor, offset, keptIn)
  ftruncateSync(descriptor, offset)
  syncData(descriptor, path)
  return { tornBytes: size, keptIn }
}

function keep(from: number, offset: number, path: string): void {
  const to = openSync(path, 'wx', 0o600)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let at = offset; ; ) {
      const bytesRead = readSync(from, chunk, 0, CHUNK_BYTES, at)
      if (bytesRead === 0) break
      at += bytesRead
      writeWhole(to, chunk.subarray(0, bytesRead), path)
    }
    fsyncSync(to)
  } catch (error) {
    rmSync(path) // the bytes are still in the journal; half a copy of them would only confuse
    throw error
  } finally {
    closeSync(to)
  }
  syncPath(dirname(path))
}

/** What `repairJournal` did. */
export interface RepairResult {
  /** Of the journal. */
  path: string
  /** False when there was nothing to repair; the file is as it was. */
  changed: boolean
  /** Where the journal as it was lies now. */
  keptIn?: string
  /** What was set aside. */
  removed: Finding[]
  /** Why the run cannot be continued all the same; only of a run. */
  problem?: string
  /** All of it, for people. */
  text: string
}

/**
 * Takes damaged lines and a torn end out of a journal that nobody writes; a missing file is an empty journal.
 *
 * Deletes nothing: the journal as it was stays, whole, under another name beside
 * it. The lines that remain keep every byte, and their numbers, so one gap more is
 * reported. A crash at any instant leaves the old journal or the new one in place.
 *
 * @throws {JournalError} `ERR_JOURNAL_READ`, `ERR_JOURNAL_WRITE`
 */
export function repairJournal(path: string, options: ReadOptions<unknown> = {}): RepairResult {
  const removed = damageIn(path, options)
  if (removed.length === 0) return nothingToRepair(path)
  const keptIn = keepOriginal(path)
  const whole = inspectJournal(path, options.schema).lines.filter((line) => line.event)
  replaceFile(path, Buffer.concat(whole.flatMap(withNewline)))
  const text = [
    `${path}: ${whole.length} events remain. Set aside:`,
    ...removed.map(findingLine),
    `The journal as it was is kept, whole, in ${keptIn}`,
  ].join('\n')
  return { path, changed: true, keptIn, removed, text }
}

export function damageIn(path: string, options: ReadOptions<unknown>): Finding[] {
  return verifyJournal(path, options).findings.filter(({ kind }) => kind === 'damage' || kind === 'torn')
}

export function nothingToRepair(path: string): RepairResult {
  return { path, changed: false, removed: [], text: `${path}: There is nothing to repair.` }
}

/** A second name for the same bytes; a copy where the file system has no hard links. */
function keepOriginal(path: string): string {
  const keptIn = join(dirname(path), `journal.before-repair-${recordStamp(new Date())}`)
  try {
    linkSync(path, keptIn)
  } catch {
    copyBeside(path, keptIn)
  }
  syncPath(keptIn)
  syncName(keptIn)
  return keptIn
}

/** Its error says what is wrong with the disk. */
function copyBeside(path: string, copy: string): void {
  try {
    copyFileSync(path, copy, constants.COPYFILE_EXCL)
  } catch (error) {
    throw asWriteError(error, copy)
  }
}

function withNewline({ bytes }: InspectedLine<unknown>): Buffer[] {
  return [bytes, Buffer.from('\n')]
}
