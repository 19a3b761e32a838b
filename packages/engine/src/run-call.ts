import { join, relative } from 'node:path'
import { recordProcess, removeInlined, runPrepared, type ToolResult } from '@delta/executor'
import { overwriteFile, recordName } from '@delta/journal'
import { type ActiveRun, record } from './active-run.js'
import type { Call, ReadyCall } from './call.js'
import { executionRecord } from './execution-record.js'
import { reportResult } from './hooks/tool-hooks.js'
import { secretTokens } from './human/secrets.js'
import type { Outcome } from './outcome.js'

/** Longer than a note of who runs: a command that fills the disk must not keep it from being written. */
const ROOM = `${' '.repeat(511)}\n`

/**
 * Runs a command that may run. `ACTION_REQUEST` means "may have started" and is on disk before the process is:
 * a crash in between leaves a request without a result, which `settle` answers for the next engine.
 */
export async function runCall(
  run: ActiveRun,
  call: Call,
  prepared: ReadyCall,
  { iteration, attempt }: { iteration: number; attempt: number },
): Promise<Outcome | undefined> {
  const about = { iteration, action_id: call.action_id, tool_name: call.name }
  const recordPath = join(run.run.paths.toolExecutions, `${recordName(new Date(), call.name)}.json`)
  const executionRef = relative(run.run.directory, recordPath)
  overwriteFile(recordPath, ROOM) // where nothing can be written any more, nothing may be started
  record(run, {
    type: 'ACTION_REQUEST',
    ...about,
    attempt,
    tool_args: prepared.args,
    resolved_command: prepared.resolvedCommand,
    argv: prepared.argv,
    execution_ref: executionRef,
  })
  run.run.journal.sync()

  const result = await execute(run, call, prepared, recordPath)
  overwriteFile(recordPath, executionRecord(call, prepared, result)) // torn, it is that of a call without a result
  record(run, {
    type: 'ACTION_RESULT',
    ...about,
    status: result.status,
    exit_code: result.exitCode,
    signal: result.signal,
    observation_content: result.observation,
    execution_ref: executionRef,
    duration_ms: result.durationMs,
  })
  removeInlined(outputPrefixOf(recordPath), result) // not before: a crash in between must find what was printed
  const stopped = await reportResult(run, call, result, iteration)
  return stopped ?? failedCritically(call, prepared, result)
}

function execute(run: ActiveRun, call: Call, prepared: ReadyCall, recordPath: string): Promise<ToolResult> {
  return runPrepared(prepared, {
    workDirectory: run.run.workDirectory,
    environment: run.environment,
    credentials: run.credentials,
    policy: run.agent.policy,
    actionId: call.action_id,
    outputPrefix: outputPrefixOf(recordPath),
    keepOutput: true,
    signal: run.signal,
    graceMs: run.graceMs,
    secretTokens: secretTokens(run.run.paths.secrets),
    onSpawn: ({ pid }) => recordProcess(recordPath, pid),
  })
}

/** Output that does not fit into a record lies beside it. */
export function outputPrefixOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, '')
}

function failedCritically(call: Call, prepared: ReadyCall, result: ToolResult): Outcome | undefined {
  const stops =
    prepared.tool.settings.critical && result.status !== 'SUCCESS' && result.status !== 'INTERRUPTED'
  return stops
    ? { status: 'FAILED', reason: `critical tool "${call.name}" ended with ${result.status}` }
    : undefined
}
