import { constants, copyFileSync, linkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { syncPath } from '@delta/durable'
import { recordStamp } from '../files/record-name.js'
import { replaceFile, syncName } from '../files/write.js'
import { asWriteError } from '../files/write-error.js'
import { type InspectedLine, inspectJournal } from '../read/inspect.js'
import { type Finding, findingLine, verifyJournal } from './verify.js'

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
export function repairJournal(path: string): RepairResult {
  const removed = damageIn(path)
  if (removed.length === 0) return nothingToRepair(path)
  const keptIn = keepOriginal(path)
  const whole = inspectJournal(path).lines.filter((line) => line.event)
  replaceFile(path, Buffer.concat(whole.flatMap(withNewline)))
  const text = [
    `${path}: ${whole.length} events remain. Set aside:`,
    ...removed.map(findingLine),
    `The journal as it was is kept, whole, in ${keptIn}`,
  ].join('\n')
  return { path, changed: true, keptIn, removed, text }
}

export function damageIn(path: string): Finding[] {
  return verifyJournal(path).findings.filter(({ kind }) => kind === 'damage' || kind === 'torn')
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

function withNewline({ bytes }: InspectedLine): Buffer[] {
  return [bytes, Buffer.from('\n')]
}
