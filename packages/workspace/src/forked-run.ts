import { parentRun, shortName } from '@delta/engine/internal'
import type { RunSummary } from '@delta/journal/runs'
import { WorkspaceError } from './errors.js'
import { type ListedRun, ownRun } from './own-runs.js'

/**
 * What a fork has of a run: of one of this user's, what was set and which import roots were allowed, as they were listed. A yes to
 * a `.env` was for another file. For a tool's process, only a run that its own run started is this user's.
 *
 * @param asked.agent - `--agent`.
 * @param asked.command - The command as it was typed.
 * @returns Undefined for any other run, of which only the conversation is taken: then `agent` is named.
 * @throws {WorkspaceError} It is not.
 */
export function forkedRun(
  run: RunSummary,
  { env, agent, command }: { env: NodeJS.ProcessEnv; agent: string | undefined; command: string },
): ListedRun | undefined {
  const caller = parentRun(env, '')
  const own = ownRun(run, env)
  const isMine = own !== undefined && (caller === undefined || run.metadata.parent_run === caller.runId)
  if (isMine && !run.imported) {
    const { allowed, ...rest } = own
    return { ...rest, ...(allowed?.import_roots && { allowed: { import_roots: allowed.import_roots } }) }
  }
  if (agent !== undefined) return undefined
  const why = isMine
    ? 'was imported: it names no agent of yours.'
    : 'is not among your runs: its agent and settings are not trusted.'
  throw new WorkspaceError(`${shortName(run.runId)} ${why} Name an agent: ${command} --agent DIR`)
}
