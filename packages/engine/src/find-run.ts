import { latestRunId, type RunSummary, readRun, runDirectory } from '@delta/journal'
import { EngineError } from './errors.js'

/**
 * What is known of a run of a workspace; by default of the latest one.
 *
 * @throws {EngineError} `ERR_ENGINE_RUN_NOT_FOUND`.
 */
export async function findRun(workDirectory: string, runId?: string): Promise<RunSummary> {
  const id = runId ?? (await latestRunId(workDirectory))
  const summary = id === undefined ? undefined : await readRun(runDirectory(workDirectory, id)).catch(missing)
  if (summary) return summary
  throw new EngineError(
    'ERR_ENGINE_RUN_NOT_FOUND',
    `No existing run found in the work directory${runId === undefined ? '' : ` with the id ${runId}`}: ${workDirectory}\nHint: Use \`delta run\` to start a new run`,
  )
}

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
    `The journal of run ${summary.runId} does not say which agent it ran. Say where it is with --agent <directory>.`,
  )
}

function missing(error: unknown): undefined {
  if ((error as { code?: unknown }).code === 'ERR_RUN_NOT_FOUND') return undefined
  throw error
}
