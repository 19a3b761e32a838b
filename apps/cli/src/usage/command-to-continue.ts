import { quoteForPerson } from '@delta/executor'
import { spokenName } from './spoken-name.js'

/** The command line that takes a run up again, ready to be pasted. */
export function commandToContinue(workspace: string, runId: string, env: NodeJS.ProcessEnv): string {
  return quoteForPerson([...spokenName(env), 'continue', '-w', workspace, '--run-id', runId])
}
