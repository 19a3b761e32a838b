import { existsSync, fstatSync } from 'node:fs'
import { JournalError } from '../errors.js'

const INTERVAL_MS = 20

/**
 * Notices that an open file was deleted, replaced by an editor, or shortened: writing to it succeeds, and what was there is lost.
 *
 * Looks at most every 20 ms: it would be the dearest part of an append in a burst.
 */
export function presenceCheck(path: string) {
  let checkedMs = Number.NEGATIVE_INFINITY

  /**
   * @param leastBytes - What this writer knows to be in the file; somebody else may have added to it.
   * @throws {JournalError} `ERR_JOURNAL_WRITE`.
   */
  function check(descriptor: number, leastBytes: number): void {
    const nowMs = Number(process.hrtime.bigint()) / 1e6 // node loads all of perf_hooks for performance.now()
    if (nowMs - checkedMs < INTERVAL_MS) return
    checkedMs = nowMs
    const { nlink, size } = fstatSync(descriptor)
    if (nlink > 0 && size >= leastBytes) return
    const what = nlink > 0 ? 'shortened' : 'deleted or replaced'
    throw new JournalError(
      'ERR_JOURNAL_WRITE',
      `${path}: The journal was ${what} while it was being written.\n${whatIsLost(path, nlink)}`,
      { path },
    )
  }

  return { check }
}

function whatIsLost(path: string, nlink: number): string {
  if (!existsSync(path))
    return 'What it held is lost with it. Put it back from a copy, then continue the run; without it the run cannot be continued.'
  const lost = nlink > 0 ? 'it held before' : 'was appended last'
  return `What ${lost} is lost. Restore the file, or continue from what is there now.`
}
