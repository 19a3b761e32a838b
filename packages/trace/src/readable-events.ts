import { isJournalError, streamJournal } from '@delta/journal'
import { inspectJournal } from '@delta/journal/internal'
import { runEventSchema, type StoredEvent } from '@delta/journal/runs'

/** The events of a journal up to its end, or to where it is damaged. */
export async function* readableEvents(path: string, fromOffset = 0): AsyncGenerator<StoredEvent> {
  let seen = 0
  try {
    for await (const event of streamJournal(path, { schema: runEventSchema, fromOffset })) {
      seen += 1
      yield event
    }
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_CORRUPT') throw error
    const lines = inspectJournal(path, runEventSchema).lines.filter(({ offset }) => offset >= fromOffset)
    for (const { event } of lines.slice(seen)) {
      if (event === undefined) return
      yield event
    }
  }
}
