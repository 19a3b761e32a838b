import { JournalError } from '../errors.js'
import { journalPath } from '../run-paths.js'
import type { JournalSummary } from './summary.js'

/**
 * Why the journal of a run that is `EMPTY` is no journal of a run that never began: it holds what came later. Undefined for
 * one that holds nothing but a start.
 */
export function lostBeginning(directory: string, { wentOn }: JournalSummary): JournalError | undefined {
  if (!wentOn) return undefined
  const path = journalPath(directory)
  return new JournalError(
    'ERR_JOURNAL_CORRUPT',
    `${path}: The beginning of this run is lost: its first events, which name the agent and its task, are not there, but later ones are.\n` +
      'A crash of ours does not do that, so something else wrote there. Put the lines back from a copy; without them the run cannot be continued.',
    { path, wayOut: 'start' },
  )
}
