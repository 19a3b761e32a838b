import { basename } from 'node:path'
import { isJournalError, JournalError } from '@delta/journal'
import { commandToContinue } from '../usage/command-to-continue.js'
import { placeOfRun } from '../usage/place.js'

/** Of a command that has no `--force` itself: a run that another process writes is taken by the one that has it. */
export function withWayToTake(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!isJournalError(error) || error.code !== 'ERR_RUN_BUSY') return error
  const { code, message, path } = error
  const take = `${commandToContinue(placeOfRun(path), basename(path), env)} --force`
  return new JournalError(
    code,
    message.replace(/\bthe option force\b/, () => take),
    { path, cause: error },
  )
}
