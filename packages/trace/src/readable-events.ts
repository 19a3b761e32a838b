import { isJournalError, type JournalError, streamJournal } from '@delta/journal'
import { inspectJournal } from '@delta/journal/internal'
import { runEventSchema, type StoredEvent } from '@delta/journal/runs'

/** The events of a journal up to its end, or to where it is damaged. @returns The damage. */
export async function* readableEvents(
  path: string,
  fromOffset = 0,
): AsyncGenerator<StoredEvent, JournalError | undefined> {
  let seen = 0
  try {
    for await (const event of streamJournal(path, { schema: runEventSchema, fromOffset })) {
      seen += 1
      yield event
    }
    return undefined
  } catch (error) {
    if (!isJournalError(error) || error.code !== 'ERR_JOURNAL_CORRUPT') throw error
    const lines = inspectJournal(path, runEventSchema).lines.filter(({ offset }) => offset >= fromOffset)
    for (const { event } of lines.slice(seen)) {
      if (event === undefined) break
      yield event
    }
    return error
  }
}
