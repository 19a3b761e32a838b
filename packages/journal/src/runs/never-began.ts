import { existsSync } from 'node:fs'
import { JournalError } from '../errors.js'
import { runPaths } from '../run-paths.js'

/** The error for a run that is `EMPTY`: there is nothing to be continued or shown. */
export function neverBegan(directory: string): JournalError {
  const had = existsSync(runPaths(directory).metadata) // it is written after the first events are
  return new JournalError('ERR_RUN_EMPTY', `${directory}: ${had ? JOURNAL_GONE : NEVER_BEGAN}`, {
    path: directory,
    ...(had ? {} : { wayOut: 'start' as const }),
  })
}

const NEVER_BEGAN =
  'This run never began: its first events were not written, and nothing was started in it. Start a new one.'

const JOURNAL_GONE = `The journal of this run is gone, or empty, though the run had begun: its metadata.json is there.
Put journal.jsonl back from a copy, then continue the run; without it the run cannot be continued.`
