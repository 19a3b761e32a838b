import { JournalError } from './errors.js'
import { checkPath } from './usage.js'

/** The error for a run that is `EMPTY`: there is nothing to be continued or shown. */
export function neverBegan(directory: string): JournalError {
  checkPath('neverBegan', 'the directory of the run', directory)
  return new JournalError(
    'ERR_RUN_EMPTY',
    `${directory}: This run never began: its first events were not written, and nothing was started in it.\n` +
      'Start a new one with: delta run',
    { path: directory },
  )
}
