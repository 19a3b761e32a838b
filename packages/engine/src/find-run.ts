import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { streamJournal } from '@delta/journal'
import {
  emptyRunError,
  isRunOf,
  journalPath,
  latestRunId,
  runDirectory,
  workDirectoryOf,
} from '@delta/journal/internal'
import { isKnownEvent, type RunSummary, type RunsPlace, readRun, runEventSchema } from '@delta/journal/runs'
import { EngineError } from './errors.js'
import { lastKept } from './kept.js'

/**
 * Reads the summary of a run in a workspace, by default the latest. `runId` may also name a run whose own workspace is gone: it
 * may have been moved.
 *
 * @param workDirectory - Absolute path of the workspace.
 * @param place.runsDirectory - The directory of its runs, if that is outside the workspace.
 * @throws {EngineError} `ERR_ENGINE_RUN_NOT_FOUND`, `ERR_ENGINE_OTHER_WORKSPACE`.
 *   {JournalError} `ERR_RUN_EMPTY`: the run never began. `ERR_JOURNAL_CORRUPT`, `ERR_JOURNAL_READ`.
 */
export async function findRun(
  workDirectory: string,
  runId?: string,
  place: RunsPlace = {},
): Promise<RunSummary> {
  const latest = () => latestRunId(workDirectory, { ...place, orEmpty: true })
  const id = runId ?? (await latest())
  const summary =
    id === undefined ? undefined : await readRun(runDirectory(workDirectory, id, place)).catch(missing)
  if (summary === undefined) throw notFound(workDirectory, (await latest()) && runId, place)
  refuseOther(summary, workDirectory)
  const begins = summary.owner?.alive ?? false // another process may be about to write its first events
  if (summary.status === 'EMPTY' && !begins) throw emptyRunError(summary.directory)
  return summary
}

/** Several workspaces may keep their runs in one directory, so a run here may belong to another workspace. */
function refuseOther({ directory, runId }: RunSummary, workDirectory: string): void {
  const own = workDirectoryOf(directory)
  if (own === undefined || isRunOf(workDirectory, directory) || !existsSync(own)) return
  throw new EngineError('ERR_ENGINE_OTHER_WORKSPACE', `Run ${runId} belongs to another workspace, ${own}.`, {
    path: directory,
    wayOut: 'continue',
  })
}

/** @param id - Id of a missing run in a workspace with other runs; undefined in a workspace without runs. */
function notFound(workDirectory: string, id: string | undefined, place: RunsPlace): EngineError {
  const kept = place.runsDirectory === undefined ? '' : ` (its runs are kept in ${place.runsDirectory})`
  const code = 'ERR_ENGINE_RUN_NOT_FOUND'
  if (id === undefined) {
    const message = `No existing run found in the work directory: ${workDirectory}${kept}`
    return new EngineError(code, message, { wayOut: 'start' })
  }
  const path = runDirectory(workDirectory, id, place)
  return new EngineError(code, `No run ${id} in ${workDirectory}${kept}. There are others.`, {
    path,
    wayOut: 'list',
  })
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}

/**
 * Finds the agent directory of a run: the one the run was started with or, if that is gone, the newest existing one of a later
 * start. While the first exists, no later one replaces it: a command of the run may have started that engine with an agent
 * that a model wrote.
 *
 * @returns The first directory when all of them are gone.
 * @throws {EngineError} `ERR_ENGINE_NO_AGENT`: the journal names no agent's directory. {JournalError} The journal is damaged.
 */
export async function findAgentHome({ runId, directory, metadata }: RunSummary): Promise<string> {
  const first = metadata.agent_home
  if (first === null) {
    const kept = lastKept(join(directory, 'configuration'))
    const message =
      kept === undefined
        ? `The journal of run ${runId} does not say which agent it ran.`
        : `The agent of run ${runId} was defined in a program. Continue it there, or with what the run kept of it: the agent in ${kept}`
    throw new EngineError('ERR_ENGINE_NO_AGENT', message, { path: directory, wayOut: 'agent' })
  }
  if (existsSync(first)) return first
  let found = first
  for await (const event of streamJournal(journalPath(directory), { schema: runEventSchema })) {
    if (!isKnownEvent(event) || event.type !== 'ENGINE_START' || event.inherited) continue
    if (event.agent_home && existsSync(event.agent_home)) found = event.agent_home
  }
  return found
}

/** The last part of an id, by which a person names the run. */
export function shortName(runId: string): string {
  return runId.split('_').at(-1) ?? runId
}
