import { quoteForPerson } from '@delta/executor'
import { spokenName } from './spoken-name.js'

/**
 * A library's text about a file of a run, its hints made commands to be pasted: the library knows neither the flags of
 * `delta` nor where a person stands. Of a path that belongs to no workspace the text stays as it is.
 */
export function withExactCommands(text: string, path: string, env: NodeJS.ProcessEnv): string {
  const run = runAt(path)
  if (run === undefined) return text
  const { workspace, id } = run
  const delta = spokenName(env)
  return text
    .replace(/delta journal repair$/gm, () =>
      quoteForPerson([...delta, 'journal', 'repair', id, '-w', workspace]),
    )
    .replace(/delta continue --run-id \S+$/gm, () =>
      quoteForPerson([...delta, 'continue', '-w', workspace, '--run-id', id]),
    )
}

/** The run in whose directory a path lies, of either layout. */
function runAt(path: string): { workspace: string; id: string } | undefined {
  const [, workspace, id] = /^(.*)\/\.delta\/(?:runs\/)?([^/]+)(?:\/|$)/s.exec(path) ?? []
  return workspace === undefined || id === undefined ? undefined : { workspace: workspace || '/', id }
}
