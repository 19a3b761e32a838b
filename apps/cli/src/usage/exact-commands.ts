import { quoteForPerson } from '@delta/executor'
import { commandToContinue } from './command-to-continue.js'
import { spokenName } from './spoken-name.js'

/**
 * Completes the commands in a library's message about a file of a run, so that they can be pasted: the library knows neither
 * the flags of `delta` nor the current directory. If the path is in no workspace, the text stays as it is.
 */
export function withExactCommands(text: string, path: string, env: NodeJS.ProcessEnv): string {
  const run = runAt(path)
  if (run === undefined) return text
  const { workspace, id } = run
  const typed = (...words: string[]) => quoteForPerson([...spokenName(env), ...words, '-w', workspace])
  return text
    .replace(/delta journal repair$/gm, () => typed('journal', 'repair', id))
    .replace(/delta show$/gm, () => typed('show', id))
    .replace(/delta list-runs$/gm, () => typed('list-runs'))
    .replace(/delta continue$/gm, () => commandToContinue(workspace, id, env))
    .replace(/delta run$/gm, () => `${typed('run')} --agent <agent> -m <task>`)
}

/** The run in whose directory a path lies, of either layout. */
function runAt(path: string): { workspace: string; id: string } | undefined {
  const [, workspace, id] = /^(.*)\/\.delta\/(?:runs\/)?([^/]+)(?:\/|$)/s.exec(path) ?? []
  return workspace === undefined || id === undefined ? undefined : { workspace: workspace || '/', id }
}
