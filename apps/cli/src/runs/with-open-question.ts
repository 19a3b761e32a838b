import { isJournalError, JournalError, type RunSummary, readRun } from '@delta/journal'

/**
 * Adds the open question of a run to the error that another process is writing it. Whether that process is asking a person or
 * was started with the answer is not visible from here; if it is asking, no answer from elsewhere can reach it.
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
