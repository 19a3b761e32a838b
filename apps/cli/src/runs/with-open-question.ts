import { isJournalError, JournalError, type RunSummary, readRun } from '@delta/journal'

/**
 * Adds to the news that another process writes a run which question is open in its journal. Whether that process asks a
 * person or was started with the answer cannot be seen from here; where it asks, no answer from elsewhere gets there.
 */
export async function withOpenQuestion(error: unknown, { directory }: RunSummary): Promise<unknown> {
  if (!isJournalError(error) || error.code !== 'ERR_RUN_BUSY') return error
  const { humanRequest } = await readRun(directory, { tolerant: true })
  if (humanRequest === undefined) return error
  const question = `Its last question has no answer yet: ${humanRequest.prompt}`
  const way =
    'If it asks a person there (-i), answer it there, or stop that with Ctrl+C and give the same command again. If it has the answer already, it goes on by itself.'
  return new JournalError(error.code, `${error.message}\n${question}\n${way}`, {
    path: error.path,
    cause: error,
  })
}
