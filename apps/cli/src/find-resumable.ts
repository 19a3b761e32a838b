import { realpathSync } from 'node:fs'
import type { Agent } from '@delta/config-loader'
import { hasResponse, parentRun } from '@delta/engine/internal'
import { latestRunId, runDirectory } from '@delta/journal/internal'
import { listRuns, type RunSummary, readRun } from '@delta/journal/runs'
import { agentHomeOf, isOwnRun, type Place } from '@delta/workspace'

/** A task, and which runs of a workspace may be resumed for it. */
interface ResumableQuery {
  place: Place
  agent: Agent
  message: string
  env: NodeJS.ProcessEnv
  /** What has changed in the agent since the run's last start, in words. */
  changesOf: (run: RunSummary) => Promise<string | undefined>
  /** Ids of runs to ignore. */
  except: readonly string[]
}

/** A run of the same agent that was interrupted, or waits for a person. */
interface Resumable {
  run: RunSummary
  /** Why the command means another run: what differs, in words. Undefined for the run that it repeats. */
  differs?: string
}

/**
 * Finds the run that a repeated command resumes instead of starting a new one. It is the workspace's latest run, if it has the
 * same agent, unchanged, and if it was interrupted with the same message, or waits with the same message or with an answer in
 * `response.txt`.
 *
 * @returns Undefined if there is none of the same agent that can be resumed. A damaged run has `problem`, and cannot be resumed.
 */
export async function findResumable(query: ResumableQuery): Promise<Resumable | undefined> {
  let other: Resumable | undefined
  for (const run of await candidates(query)) {
    if (query.except.includes(run.runId)) continue
    if (run.problem !== undefined) return { run }
    if (!isStopped(run) || !(await isSameAgent(run, query))) continue
    const differs = isMeant(run, query) ? await query.changesOf(run) : 'the message differs'
    if (differs === undefined) return { run }
    other ??= { run, differs }
  }
  return other
}

/** True when the run was started with this message. */
export function isTaskOf({ metadata }: RunSummary, message: string): boolean {
  return metadata.initial_message === message
}

/**
 * The latest run; within a run, all that it started: it may call several agents, some at the same time. An attacker may have
 * written the journal of one that is not this user's.
 */
async function candidates({ place, env }: ResumableQuery): Promise<RunSummary[]> {
  const { workDirectory } = place
  const caller = parentRun(env, workDirectory)
  if (caller !== undefined) {
    const called = await listRuns(workDirectory, { ...place, calledBy: caller.runId })
    return called.filter((run) => run.problem === undefined && isOwnRun(run.directory, env)).reverse()
  }
  const latest = await latestRunId(workDirectory, place)
  if (latest === undefined) return []
  return [await readRun(runDirectory(workDirectory, latest, place), { tolerant: true })]
}

function isStopped({ status, replay }: RunSummary): boolean {
  if (replay !== undefined) return false
  return status === 'WAITING_FOR_INPUT' || status === 'INTERRUPTED'
}

function isMeant(run: RunSummary, { message }: ResumableQuery): boolean {
  return isTaskOf(run, message) || (run.status === 'WAITING_FOR_INPUT' && hasResponse(run))
}

async function isSameAgent(run: RunSummary, { agent, env }: ResumableQuery): Promise<boolean> {
  if (run.metadata.agent_home === null) return false
  try {
    return realpathSync(await agentHomeOf(run, env)) === agent.home
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
