import { fstatSync } from 'node:fs'
import { JournalError } from './errors.js'

const INTERVAL_MS = 20

/**
 * Notices that an open file was deleted, or replaced by an editor: writing to it succeeds and is lost.
 *
 * Looks at most every 20 ms: it would be the dearest part of an append in a burst.
 */
export function presenceCheck(path: string) {
  let checkedMs = Number.NEGATIVE_INFINITY

  /** @throws {JournalError} `ERR_JOURNAL_WRITE`. */
  function check(descriptor: number): void {
    const nowMs = performance.now()
    if (nowMs - checkedMs < INTERVAL_MS) return
    checkedMs = nowMs
    if (fstatSync(descriptor).nlink > 0) return
    throw new JournalError(
      'ERR_JOURNAL_WRITE',
      `${path}: The journal was deleted or replaced while it was being written.\n` +
        'What was appended last is lost. Restore the file, or continue from what lies there now.',
      { path },
    )
  }

  return { check }
}
