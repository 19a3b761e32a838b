import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { quoteForPerson } from '@delta/executor'
import { latestRunId, listRuns, type RunSummary, readRun, runDirectory } from '@delta/journal'
import { callerOf } from '../agent/within-run.js'
import { commandToContinue } from '../usage/command-to-continue.js'
import { type Place, placeArguments } from '../usage/place.js'
import { spokenName } from '../usage/spoken-name.js'
import { agentHomeOf, isOwnRun } from './own-runs.js'

interface Earlier {
  /** One line for the person. */
  notice: string
  /** Set when the run is to be resumed without asking. */
  resume?: RunSummary
}

/** What was typed, and where. */
interface ResumeQuery {
  agent: Agent
  message: string
  place: Place
  flags: { workDir?: string; runId?: string; new?: boolean }
  env: NodeJS.ProcessEnv
  /** Runs that another process has taken meanwhile. */
  except: readonly string[]
}

/**
 * Whether `delta run` takes up the workspace's latest run instead of starting one: only when the workspace was named,
 * the agent is the same, nothing is set in it that was not set for the run, and the run was interrupted with the same message, or waits with the same message or with an
 * answer in `response.txt`. With another message the person wants a new run, so the old one is only mentioned; so is a
 * damaged one. A sub-agent takes up only what its caller started.
 */
export async function resumableRun(about: ResumeQuery): Promise<Earlier | undefined> {
  const { place, flags } = about
  const summary = await earlierRun(about)
  if (summary?.problem !== undefined) return { notice: damageNotice(summary, place, about.env) }
  if (!summary || !isOpen(summary) || about.except.includes(summary.runId)) return undefined

  const { runId, status } = summary
  const wanted =
    flags.workDir !== undefined && flags.runId === undefined && !flags.new && about.env.DELTA_NEW !== '1'
  if (wanted && (await isMeant(summary, about))) {
    const other = isTaskOf(summary, about.message)
      ? ''
      : '; response.txt answers its question, so -m is not used'
    return {
      notice: `Resuming run ${runId} (${status})${other}. --new starts another one.`,
      resume: summary,
    }
  }
  // a hint would advise to trust a run that came with the workspace
  return isOwnRun(summary.directory, about.env) ? { notice: tellOf(summary, place, about.env) } : undefined
}

/** A line about a run that is not resumed: its status, and the command that resumes it or shows its question. */
function tellOf(run: RunSummary, place: Place, env: NodeJS.ProcessEnv): string {
  return `Run ${run.runId} in this workspace is ${run.status}; ${wayTo(run, place, env)}`
}

function wayTo({ runId, status }: RunSummary, place: Place, env: NodeJS.ProcessEnv): string {
  if (status === 'INTERRUPTED') return `to resume it: ${commandToContinue(place, runId, env)}`
  const show = quoteForPerson([...spokenName(env), 'show', runId, ...placeArguments(place)])
  return `to see what it asks: ${show}`
}

async function latestRun(place: Place): Promise<RunSummary | undefined> {
  const id = await latestRunId(place.workDirectory, place)
  return id === undefined
    ? undefined
    : readRun(runDirectory(place.workDirectory, id, place), { tolerant: true })
}

/**
 * The workspace's latest run. Of a sub-agent, the run that is meant among those that its caller started there: it may have called
 * several agents, with several tasks, some at the same time.
 */
async function earlierRun(about: ResumeQuery): Promise<RunSummary | undefined> {
  const { place, env, except } = about
  const caller = callerOf(place.workDirectory, env)
  if (caller === undefined) return latestRun(place)
  const all = await listRuns(place.workDirectory, { ...place, calledBy: caller.runId })
  const called = all.filter(({ directory }) => isOwnRun(directory, env))
  for (const run of called.toReversed()) {
    const isFree = run.problem === undefined && isOpen(run) && !except.includes(run.runId)
    if (isFree && (await isMeant(run, about))) return run
  }
  return called.at(-1)
}

function isOpen({ status }: RunSummary): boolean {
  return status === 'INTERRUPTED' || status === 'WAITING_FOR_INPUT'
}

async function isMeant(summary: RunSummary, { agent, message, env }: ResumeQuery): Promise<boolean> {
  const isSet = agent.snapshot.overrides.every((text) => summary.overrides.includes(text))
  return isSet && continuesWith(summary, message) && (await isSameAgent(summary, agent, env))
}

function damageNotice({ runId, problem = '' }: RunSummary, place: Place, env: NodeJS.ProcessEnv): string {
  const [what = ''] = problem.split('\n')
  const remedy = quoteForPerson([...spokenName(env), 'journal', 'verify', runId, ...placeArguments(place)])
  return `Run ${runId} in this workspace is damaged, and was left as it is: ${what}\nTo see what can be done: ${remedy}`
}

function continuesWith(summary: RunSummary, message: string): boolean {
  return isTaskOf(summary, message) || (summary.status === 'WAITING_FOR_INPUT' && hasResponse(summary))
}

function isTaskOf({ metadata }: RunSummary, message: string): boolean {
  return metadata.initial_message === message
}

/** Anything but a regular file is not read, since it may be a pipe; the engine then says what is wrong with it. */
function hasResponse(summary: RunSummary): boolean {
  const path = join(summary.directory, 'interaction', 'response.txt')
  const what = statSync(path, { throwIfNoEntry: false })
  if (what === undefined) return false
  return !what.isFile() || readFileSync(path, 'utf8').trim() !== ''
}

async function isSameAgent(summary: RunSummary, agent: Agent, env: NodeJS.ProcessEnv): Promise<boolean> {
  if (summary.metadata.agent_home === null) return false
  try {
    return realpathSync(await agentHomeOf(summary, env)) === agent.home
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
