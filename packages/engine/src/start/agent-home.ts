import { existsSync } from 'node:fs'
import { streamJournal } from '@delta/journal'
import { isKnownEvent, journalPath, type RunSummary, runEventSchema } from '@delta/journal/runs'
import { EngineError } from '../errors.js'

/**
 * The directory of the agent that a run was started with.
 *
 * @throws {EngineError} `ERR_ENGINE_NO_AGENT`: its journal does not say.
 */
export function agentHomeIn(summary: RunSummary): string {
  const home = summary.metadata.agent_home
  if (home !== null) return home
  throw new EngineError(
    'ERR_ENGINE_NO_AGENT',
    `The journal of run ${summary.runId} does not say which agent it ran.`,
    { path: summary.directory, wayOut: 'agent' },
  )
}

/**
 * Where the agent of a run is now: the directory it was started with or, if that is gone, the newest existing one that a
 * later engine was told to use. While the first exists, no later one replaces it: a command of the run may have started
 * that engine, and named an agent that a model wrote.
 *
 * @returns A directory that may be gone, too, when all of them are.
 * @throws {EngineError} `ERR_ENGINE_NO_AGENT`: its journal does not say. {JournalError} It is damaged.
 */
export async function findAgentHome(summary: RunSummary): Promise<string> {
  const first = agentHomeIn(summary)
  if (existsSync(first)) return first
  let found = first
  for await (const event of streamJournal(journalPath(summary.directory), { schema: runEventSchema })) {
    if (!isKnownEvent(event) || event.type !== 'ENGINE_START') continue
    if (event.agent_home && existsSync(event.agent_home)) found = event.agent_home
  }
  return found
}
