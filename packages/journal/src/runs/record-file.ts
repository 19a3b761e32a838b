import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { asWriteError } from '../errors.js'
import { recordName, writeAt } from '../files.js'

const { O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/** A record that gets its end later. Stays open in between, for opening a file costs more than writing to it. */
export interface RecordFile {
  readonly path: string
  /**
   * Writes a text from `position` (a number of bytes) on, which is then the file's end. A crash in the middle leaves half of
   * it: for records that an event in the journal makes count afterwards, so that a torn one belongs to nothing.
   *
   * @throws {JournalError} `ERR_JOURNAL_WRITE`; so does `sync`.
   */
  write(text: string, position: number): void
  /** Makes what was written survive a power cut. */
  sync(): void
  /** May be followed by more of all this, which opens what has the name by then: a file that is gone is made anew. */
  close(): void
}

/**
 * Creates a JSON file (0600) with a text in it, under a new name: see `recordName`. A clock that was set back repeats names of
 * an earlier process; then the next millisecond is free.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`.
 */
export function createRecordFile(directory: string, label: string, text: string): RecordFile {
  for (;;) {
    const path = join(directory, `${recordName(new Date(), label)}.json`)
    const descriptor = createNew(path)
    if (descriptor !== undefined) return withText(openRecord(path, descriptor), text)
  }
}

/** Undefined when there is such a file. */
function createNew(path: string): number | undefined {
  try {
    return openSync(path, 'wx', 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw asWriteError(error, path)
  }
}

function withText(file: RecordFile, text: string): RecordFile {
  try {
    file.write(text, 0)
    return file
  } catch (error) {
    file.close()
    rmSync(file.path, { force: true }) // half a record would hide an earlier one of the same iteration
    throw error
  }
}

function openRecord(path: string, created: number): RecordFile {
  let descriptor: number | undefined = created
  let length = 0

  function opened(): number {
    if (descriptor !== undefined) return descriptor
    descriptor = openSync(path, O_WRONLY | O_CREAT | O_NONBLOCK, 0o600) // a pipe would be waited for
    length = fstatSync(descriptor).size
    return descriptor
  }

  function write(text: string, position: number): void {
    const bytes = Buffer.from(text)
    const end = position + bytes.length
    const file = opened()
    writeAt(file, bytes, position)
    if (end < length) ftruncateSync(file, end)
    length = end
  }

  function close(): void {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }

  function tried(action: () => void): void {
    try {
      action()
    } catch (error) {
      throw asWriteError(error, path)
    }
  }

  return {
    path,
    write: (text, position) => tried(() => write(text, position)),
    sync: () => tried(() => fsyncSync(opened())),
    close,
  }
}
