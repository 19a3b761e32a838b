import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { findAgentHome, parentRun } from '@delta/engine'
import { migratedDirectory, type RunSummary } from '@delta/journal'
import { commandAt, commandToContinue, type Place } from '../place.js'
import { say } from '../present/print.js'
import { printable } from '../present/text.js'
import { statePath } from '../state-directory.js'
import type { Terminal } from '../terminal/terminal.js'
import { UsageError } from '../usage.js'
import { isOwnRun, listingOwnRuns, RUNS } from './own-runs.js'

/** A run that may be taken up. */
interface BelievedRun {
  /** Without what was set for it or allowed, if it is another's. */
  run: RunSummary
  /** To be called with its directory once it goes on: from then on it is listed as this user's, with the agent that it goes on with. */
  list: (runDirectory: string, agentHome: string) => void
  isNew: boolean
}

interface Asked {
  place: Place
  flags: { runsDir?: string; trustRun?: boolean; agent?: string }
  terminal: Terminal
}

/**
 * Lets a run go on that this user started, or keeps where they typed, or says to trust; a tool's process only one that its
 * caller started.
 *
 * @throws {UsageError} Any other run; or the state directory cannot be written.
 */
export async function believedRun(run: RunSummary, asked: Asked): Promise<BelievedRun> {
  const { place, flags, terminal } = asked
  const caller = parentRun(terminal.env, place.workDirectory)
  const isOwn = isOwnRun(run.directory, terminal.env)
  if (caller !== undefined && !(isOwn && run.metadata.parent_run === caller.runId))
    throw new UsageError(
      `Run ${run.runId} was not started by run ${caller.runId}, whose tool this command is. A tool goes on only with runs that its own run started.`,
    )
  const isTyped = flags.runsDir !== undefined && place.runsDirectory !== undefined
  if (!isOwn && !isTyped) {
    if (!flags.trustRun) throw refusal(run, asked)
    say(terminal, await whatIsTrusted(run, flags.agent, terminal))
  }
  refusePrepared(run, asked)
  const list = listingOwnRuns(terminal.env)
  if (isOwn || isTyped) return { run, list: (runDirectory) => list(runDirectory), isNew: false }
  const { allowed, ...rest } = run
  return {
    run: { ...rest, overrides: [] },
    list: (runDirectory, agentHome) => list(runDirectory, { agentHome }),
    isNew: true,
  }
}

/** A run of an old layout goes on in another directory, which may be there already, and be anyone's. */
function refusePrepared({ directory, runId }: RunSummary, { place, terminal }: Asked): void {
  const target = migratedDirectory(directory)
  if (target === undefined || !existsSync(target) || isOwnRun(target, terminal.env)) return
  throw new UsageError(
    `Run ${runId} has an old layout and would go on in ${target}, which is there already and is not among your runs.
Move that directory away. Or go on with what is in it: ${commandToContinue(place, basename(target))} --trust-run`,
  )
}

async function whatIsTrusted(
  run: RunSummary,
  agent: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const { metadata, overrides, allowed } = run
  const home = agent ?? (metadata.agent_home === null ? 'not known' : await findAgentHome(run))
  const isSet = overrides.length > 0 || allowed !== undefined
  return printable(
    [
      `Run ${run.runId} in ${run.directory} is not among your runs (${statePath(RUNS, terminal.env)}).`,
      `  agent           ${metadata.agent_name ?? 'not known'}`,
      `  its commands    ${home}`,
      ...(isSet
        ? [
            'What its journal says was set or allowed for it (--set, --import-root, --trust-workspace-env) does not apply.',
          ]
        : []),
      'When it goes on, it is remembered there as yours, and is not asked about again.',
    ].join('\n'),
  )
}

function refusal(run: RunSummary, { place, terminal }: Asked): UsageError {
  const show = commandAt(place, 'show', run.runId)
  const trust = `${commandToContinue(place, run.runId)} --trust-run`
  return new UsageError(
    `Run ${run.runId} is not among your runs (${statePath(RUNS, terminal.env)}): it was copied, cloned or unpacked, or started by another user, by a version before 0.2, or with another state directory. Nothing was run.
To look at it: ${show}
To go on with it, with the commands of the agent that it names: ${trust}`,
  )
}
