import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Agent } from '@delta/config-loader'
import { findAgentHome } from '@delta/engine'
import { quoteForPerson } from '@delta/executor'
import { latestRunId, type RunSummary, readRun, runDirectory } from '@delta/journal'
import { tellOf } from './other-run.js'
import { spokenName } from './spoken-name.js'

interface Earlier {
  /** One line for the person. */
  notice: string
  /** Set when the run is to be resumed without being asked. */
  resume?: { runId: string }
}

/**
 * Whether `delta run` takes up the workspace's latest run instead of starting one: only when the workspace was named,
 * the agent is the same, and the run was interrupted with the same message, or waits with the same message or with an
 * answer lying there. Another message is the person's wish for a new run; then the old one is only named, and so is a
 * damaged one.
 */
export async function resumableRun(about: {
  agent: Agent
  message: string
  workDirectory: string
  flags: { workDir?: string; runId?: string; new?: boolean }
  env: NodeJS.ProcessEnv
}): Promise<Earlier | undefined> {
  const { agent, workDirectory, flags } = about
  const id = await latestRunId(workDirectory)
  const summary =
    id === undefined ? undefined : await readRun(runDirectory(workDirectory, id), { tolerant: true })
  if (summary?.problem !== undefined) return { notice: damageNotice(summary, workDirectory, about.env) }
  if (!summary || !(summary.status === 'INTERRUPTED' || summary.status === 'WAITING_FOR_INPUT'))
    return undefined

  const { runId, status } = summary
  const wanted =
    flags.workDir !== undefined && flags.runId === undefined && !flags.new && about.env.DELTA_NEW !== '1'
  if (wanted && (await isSameAgent(summary, agent)) && continuesWith(summary, about.message)) {
    return { notice: `Resuming run ${runId} (${status}). --new starts another one.`, resume: { runId } }
  }
  return { notice: tellOf(summary, workDirectory, about.env) }
}

function damageNotice(
  { runId, problem = '' }: RunSummary,
  workDirectory: string,
  env: NodeJS.ProcessEnv,
): string {
  const [what = ''] = problem.split('\n')
  const remedy = quoteForPerson([...spokenName(env), 'journal', 'verify', runId, '-w', workDirectory])
  return `Run ${runId} in this workspace is damaged, and left as it is: ${what}\nWhat can be done: ${remedy}`
}

function continuesWith(summary: RunSummary, message: string): boolean {
  const same = summary.metadata.initial_message === message
  return same || (summary.status === 'WAITING_FOR_INPUT' && hasResponse(summary))
}

/** What is no file is not read, for it may be a pipe: whoever takes the run up says what is wrong with it. */
function hasResponse(summary: RunSummary): boolean {
  const path = join(summary.directory, 'interaction', 'response.txt')
  const what = statSync(path, { throwIfNoEntry: false })
  if (what === undefined) return false
  return !what.isFile() || readFileSync(path, 'utf8').trim() !== ''
}

async function isSameAgent(summary: RunSummary, agent: Agent): Promise<boolean> {
  if (summary.metadata.agent_home === null) return false
  try {
    return realpathSync(await findAgentHome(summary)) === agent.home
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
