import { existsSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { quoteForPerson } from '@delta/executor'
import { journalPath } from '@delta/journal'
import { commandToContinue } from './command-to-continue.js'
import { placeArguments, placeOfRun } from './place.js'
import { spokenName } from './spoken-name.js'

/**
 * Completes the commands in a library's message about a file of a run, so that they can be pasted: the library knows neither
 * the flags of `delta` nor the current directory. If the path is in no run, the text stays as it is.
 */
export function withExactCommands(text: string, path: string, env: NodeJS.ProcessEnv): string {
  const run = runAt(path)
  if (run === undefined) return text
  const place = placeOfRun(run)
  const id = basename(run)
  const typed = (...words: string[]) =>
    quoteForPerson([...spokenName(env), ...words, ...placeArguments(place)])
  return text
    .replace(/delta journal repair$/gm, () => typed('journal', 'repair', id))
    .replace(/delta show$/gm, () => typed('show', id))
    .replace(/delta list-runs$/gm, () => typed('list-runs'))
    .replace(/delta continue(?: --run-id \S+)?$/gm, () => commandToContinue(place, id, env))
    .replace(/delta run$/gm, () => `${typed('run')} --agent <agent> -m <task>`)
}

/** The run in whose directory a path lies, of either layout; outside a workspace it is known by its journal. */
function runAt(path: string): string | undefined {
  const [run] = /^.*\/\.delta\/(?:runs\/)?[^/]+/s.exec(path) ?? []
  return run ?? withJournal(path)
}

function withJournal(directory: string): string | undefined {
  if (directory === '' || directory === dirname(directory)) return undefined
  return existsSync(journalPath(directory)) ? directory : withJournal(dirname(directory))
}
