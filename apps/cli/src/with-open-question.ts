import { isJournalError, JournalError, type RunSummary, readRun } from '@delta/journal'

/** Adds to the news that another process writes a run what that process asks a person, if it does: no answer from elsewhere gets there. */
export async function withOpenQuestion(error: unknown, { directory }: RunSummary): Promise<unknown> {
  if (!isJournalError(error) || error.code !== 'ERR_RUN_BUSY') return error
  const { humanRequest } = await readRun(directory, { tolerant: true })
  if (humanRequest === undefined) return error
  const question = `It asks a person there (-i): ${humanRequest.prompt}`
  const way = 'Answer it there; or stop that with Ctrl+C, and answer with the same command again.'
  return new JournalError(error.code, `${error.message}\n${question}\n${way}`, {
    path: error.path,
    cause: error,
  })
}
