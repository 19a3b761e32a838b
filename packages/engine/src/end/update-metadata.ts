import { isJournalError, type Run } from '@delta/journal'
import type { EngineEvent } from '../engine-event.js'

/** Writes `metadata.json` anew. It repeats what the journal says, so that it cannot be written stops nothing. */
export async function updateMetadata(run: Run, emit: (event: EngineEvent) => void): Promise<void> {
  try {
    await run.updateMetadata()
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_WRITE') throw error
    const [why = ''] = error.message.split('\n')
    emit({
      kind: 'notice',
      message: `${why} The run does not depend on it: the journal holds the same facts.`,
    })
  }
}
