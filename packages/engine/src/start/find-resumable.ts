import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import {
  latestRunId,
  listRuns,
  type RunSummary,
  type RunsPlace,
  readRun,
  runDirectory,
} from '@delta/journal/runs'

/** A task, and what the runs of a workspace must be like to be taken up for it. */
export interface ResumableQuery extends RunsPlace {
  workDirectory: string
  agent: Agent
  message: string
  /** The id of the run whose tool asks: only runs that it started count. */
  parentRun?: string | undefined
  /** False of a run that this user neither started nor trusts: its journal may say anything. */
  isTrusted: (run: RunSummary) => boolean
  /** The directory of the agent of a run. */
  agentHomeOf: (run: RunSummary) => Promise<string>
  /** Ids of runs that are not looked at. */
  except?: readonly string[]
}

/**
 * The run that a repeated command would take up instead of starting another one: the workspace's latest, if it is the same
 * agent's, nothing is set in the agent that was not set for the run, and it was interrupted with the same message, or waits
 * with the same message or with an answer in `response.txt`. With another message the person wants a new run.
 *
 * @returns Undefined if there is none. A damaged run has `problem`, and cannot be taken up.
 */
export async function findResumable(query: ResumableQuery): Promise<RunSummary | undefined> {
  for (const run of await candidates(query)) {
    if (query.except?.includes(run.runId)) continue
    if (run.problem !== undefined || (await isMeant(run, query))) return run
  }
  return undefined
}

/** True if the run was started with that message. */
export function isTaskOf({ metadata }: RunSummary, message: string): boolean {
  return metadata.initial_message === message
}

/** A run may have called several agents, with several tasks, some at the same time. */
async function candidates(query: ResumableQuery): Promise<RunSummary[]> {
  const { workDirectory, runsDirectory, parentRun, isTrusted } = query
  if (parentRun !== undefined) {
    const called = await listRuns(workDirectory, { runsDirectory, calledBy: parentRun })
    return called.filter((run) => run.problem === undefined && isTrusted(run)).reverse()
  }
  const latest = await latestRunId(workDirectory, { runsDirectory })
  if (latest === undefined) return []
  return [await readRun(runDirectory(workDirectory, latest, { runsDirectory }), { tolerant: true })]
}

async function isMeant(run: RunSummary, query: ResumableQuery): Promise<boolean> {
  const { agent, message } = query
  const waits = run.status === 'WAITING_FOR_INPUT'
  if (!waits && run.status !== 'INTERRUPTED') return false
  if (!isTaskOf(run, message) && !(waits && hasResponse(run))) return false
  const isSet = agent.snapshot.overrides.every((text) => run.overrides.includes(text))
  return isSet && (await isSameAgent(run, query))
}

/** Anything but a regular file is not read, since it may be a pipe; the engine then says what is wrong with it. */
function hasResponse(run: RunSummary): boolean {
  const path = join(run.directory, 'interaction', 'response.txt')
  const what = statSync(path, { throwIfNoEntry: false })
  if (what === undefined) return false
  return !what.isFile() || readFileSync(path, 'utf8').trim() !== ''
}

async function isSameAgent(run: RunSummary, { agent, agentHomeOf }: ResumableQuery): Promise<boolean> {
  if (run.metadata.agent_home === null) return false
  try {
    return realpathSync(await agentHomeOf(run)) === agent.home
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
