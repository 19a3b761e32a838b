import { quoteForPerson } from '@delta/executor'
import { type Place, placeArguments } from './place.js'
import { spokenName } from './spoken-name.js'

/** The command line that takes a run up again, ready to be pasted. */
export function commandToContinue(place: Place, runId: string, env: NodeJS.ProcessEnv): string {
  return quoteForPerson([...spokenName(env), 'continue', ...placeArguments(place), '--run-id', runId])
}
