import { closeSync, fsyncSync, ftruncateSync, openSync, rmSync } from 'node:fs'
import { writeAt } from './write.js'
import { asWriteError } from './write-error.js'

/** A record that gets its end later. Stays open in between, for opening a file costs more than writing to it. */
export interface RecordFile {
  /** Writes a text from `position` on, which is then the file's end. A crash in the middle leaves half of it. */
  write(text: string, position: number): void
  /** Makes what was written survive a power cut. */
  sync(): void
  /** May be followed by more of all this. */
  close(): void
}

/**
 * Creates a file (0600) with a text in it.
 *
 * @throws {JournalError} `ERR_JOURNAL_WRITE`; also if there is such a file. So do its methods.
 */
export function createRecordFile(path: string, text: string): RecordFile {
  let descriptor: number | undefined = tried(() => openSync(path, 'wx', 0o600))
  let length = 0

  function opened(): number {
    descriptor ??= openSync(path, 'r+')
    return descriptor
  }

  function write(text: string, position: number): void {
    const bytes = Buffer.from(text)
    const end = position + bytes.length
    writeAt(opened(), bytes, position)
    if (end < length) ftruncateSync(opened(), end)
    length = end
  }

  function close(): void {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
  }

  function tried<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw asWriteError(error, path)
    }
  }

  const file: RecordFile = {
    write: (text, position) => tried(() => write(text, position)),
    sync: () => tried(() => fsyncSync(opened())),
    close,
  }
  try {
    file.write(text, 0)
    return file
  } catch (error) {
    close()
    rmSync(path, { force: true }) // half a record would hide an earlier one of the same iteration
    throw error
  }
}
