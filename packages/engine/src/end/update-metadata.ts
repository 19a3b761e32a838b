import { isJournalError, type Run } from '@delta/journal'
import type { EngineEvent } from '../run-state.js'

/** Replaces `metadata.json`. It only repeats what the journal says, so a failure to write it is just reported. */
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
