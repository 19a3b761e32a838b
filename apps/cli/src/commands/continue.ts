import { resolve } from 'node:path'
import { continueRun, EngineError, type Reply } from '@delta/engine'
import { latestRunId, readRun, runDirectory } from '@delta/journal'
import { type EngineFlags, engineOptions, loadAgentFor } from '../engine-options.js'
import { readMessage } from '../message.js'
import { presenterFor } from '../present/presenter.js'
import { exitCodeFor, withStopSignal } from '../run-life.js'
import type { Terminal } from '../terminal.js'
import { UsageError } from '../usage-error.js'

interface ContinueFlags extends EngineFlags {
  workDir: string
  message?: string
  runId?: string
  force?: boolean
  approve?: string
  deny?: string
}

/** `delta continue`: goes on with a run of a workspace. The agent is the one the run was started with. */
export async function continueCommand(flags: ContinueFlags, terminal: Terminal): Promise<number> {
  const workDirectory = resolve(terminal.cwd, flags.workDir)
  const presenter = presenterFor(flags.format, terminal, flags)
  const decision = decisionIn(flags)
  const message = await readMessage(flags.message, terminal)
  const agentHome = await agentHomeOf(workDirectory, flags.runId)
  const agent = await loadAgentFor(agentHome, { flags, terminal, presenter })

  const result = await withStopSignal(terminal, presenter, async (signal) =>
    continueRun({
      ...(await engineOptions(agent, { workDirectory, flags, terminal, presenter, signal })),
      agent,
      workDirectory,
      force: flags.force ?? false,
      ...(flags.runId === undefined ? {} : { runId: flags.runId }),
      ...(message === undefined ? {} : { message }),
      ...(decision === undefined ? {} : { decision }),
    }),
  )
  presenter.finish(result)
  return exitCodeFor(result)
}

function decisionIn({ approve, deny }: ContinueFlags): Extract<Reply, { requestId: string }> | undefined {
  if (approve !== undefined && deny !== undefined) throw new UsageError('--approve and --deny exclude each other.')
  if (approve !== undefined) return { kind: 'approve', requestId: approve }
  return deny === undefined ? undefined : { kind: 'deny', requestId: deny }
}

async function agentHomeOf(workDirectory: string, runId: string | undefined): Promise<string> {
  const id = runId ?? (await latestRunId(workDirectory))
  if (id !== undefined) return (await readRun(runDirectory(workDirectory, id))).metadata.agent_home
  throw new EngineError(
    'ERR_ENGINE_RUN_NOT_FOUND',
    `No existing run found in the work directory: ${workDirectory}\nHint: Use \`delta run\` to start a new run`,
  )
}
