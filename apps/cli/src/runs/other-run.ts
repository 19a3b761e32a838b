import { quoteForPerson } from '@delta/executor'
import { listRuns, type RunSummary } from '@delta/journal'
import { commandToContinue } from '../usage/command-to-continue.js'
import { type Place, placeArguments } from '../usage/place.js'
import { spokenName } from '../usage/spoken-name.js'
import { isOwnRun } from './own-runs.js'

/**
 * A line about another run that the person may have meant, when no run was named and the latest has ended: with a message,
 * one whose question is open; without a message, any that could be resumed. Undefined when there is none.
 */
export async function otherRun(
  latest: RunSummary,
  about: { place: Place; message: string | undefined; env: NodeJS.ProcessEnv },
): Promise<string | undefined> {
  if (latest.status !== 'COMPLETED' && latest.status !== 'FAILED') return undefined
  const { place, message, env } = about
  const other = (await listRuns(place.workDirectory, place)).findLast(
    ({ status, problem, metadata, humanRequest, directory }) =>
      (status === 'WAITING_FOR_INPUT' || status === 'INTERRUPTED') &&
      (message === undefined || humanRequest !== undefined) &&
      problem === undefined &&
      metadata.parent_run === null &&
      isOwnRun(directory, env),
  )
  if (other === undefined) return undefined
  const taken = message === undefined ? '' : `Run ${latest.runId}, the latest, takes the message. `
  return `${taken}${tellOf(other, place, env)}`
}

/** A line about a run that is not resumed: its status, and the command that resumes it or shows its question. */
export function tellOf(run: RunSummary, place: Place, env: NodeJS.ProcessEnv): string {
  return `Run ${run.runId} in this workspace is ${run.status}; ${wayTo(run, place, env)}`
}

function wayTo({ runId, status }: RunSummary, place: Place, env: NodeJS.ProcessEnv): string {
  if (status === 'INTERRUPTED') return `to resume it: ${commandToContinue(place, runId, env)}`
  const show = quoteForPerson([...spokenName(env), 'show', runId, ...placeArguments(place)])
  return `to see what it asks: ${show}`
}
