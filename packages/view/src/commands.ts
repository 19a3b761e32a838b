import { basename, dirname } from 'node:path'
import type { Commands, RunRow } from './api.js'

/** What to type for a run that the page shows. */
export function commandsFor(directory: string, { id, status, workspace, caller, cell }: RunRow): Commands {
  const argument = quoted(directory)
  const goesOn =
    (status === 'INTERRUPTED' || status === 'WAITING_FOR_INPUT') && caller === undefined && cell === undefined
  if (!goesOn || workspace === null) return { argument }
  const runs = dirname(directory)
  const place =
    basename(runs) === '.delta'
      ? `-w ${quoted(dirname(runs))}`
      : `-w ${quoted(workspace)} --runs-dir ${quoted(runs)}`
  return { argument, continue: `delta continue ${place} --run-id ${quoted(id)}` }
}

/** A word as a shell reads it back. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
