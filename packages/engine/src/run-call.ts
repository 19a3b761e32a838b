import { relative } from 'node:path'
import { readIfThere } from '@delta/durable'
import {
  describeProcess,
  interruptPolicy,
  removeInlined,
  runPrepared,
  type ToolResult,
} from '@delta/executor'
import { type ActionResult, createRecordFile, type RecordFile } from '@delta/journal'
import { secretTokens } from './ask-human.js'
import { failedCritically } from './calls.js'
import { reportResult } from './hooks.js'
import { interrupted, type Outcome } from './outcome.js'
import { type Call, type ReadyCall, type RunState, record, warnAuthor } from './run-state.js'

/** Space reserved for the process record, which must fit even after a command has filled the disk. */
const RESERVED = `${' '.repeat(511)}\n`

/**
 * Runs a command that may run. `ACTION_REQUEST` means "may have started" and is on disk before the process is:
 * a crash in between leaves a request without a result, which `settle` answers for the next engine.
 */
export async function runCall(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, attempt }: { iteration: number; attempt: number },
): Promise<Outcome | undefined> {
  if (state.signal.aborted) return interrupted(state.signal) // while a hook or a person decided
  const file = createRecordFile(state.run.paths.toolExecutions, call.name, RESERVED) // what cannot be recorded must not be started
  try {
    return await runRecorded(state, call, prepared, { iteration, attempt, file })
  } finally {
    file.close()
  }
}

async function runRecorded(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, attempt, file }: { iteration: number; attempt: number; file: RecordFile },
): Promise<Outcome | undefined> {
  const about = { iteration, action_id: call.action_id, tool_name: call.name }
  const executionRef = relative(state.run.directory, file.path)
  record(state, {
    type: 'ACTION_REQUEST',
    ...about,
    attempt,
    tool_args: prepared.args,
    resolved_command: prepared.resolvedCommand,
    argv: prepared.argv,
    execution_ref: executionRef,
  })
  state.run.journal.sync()

  const result = await execute(state, call, prepared, file)
  if (isLeftOpen(prepared, result)) {
    state.emit({ kind: 'notice', message: `${call.name} was stopped before it had a result.` })
    return interrupted(state.signal)
  }
  file.write(executionRecord(call, prepared, result), 0) // if a crash tears it, the call has no result yet either
  recordResult(state, result, about, executionRef)
  warnAuthor(state, result.advice)
  quietly(() => removeInlined(outputPrefixOf(file.path), result)) // only now: after a crash, the next engine must still find the output
  if (result.status === 'INTERRUPTED') return interrupted(state.signal)
  const stopped = await reportResult(state, call, result, iteration)
  return stopped ?? failedCritically(prepared.tool, { ...about, status: result.status })
}

function recordResult(
  state: RunState,
  result: ToolResult,
  about: Pick<ActionResult, 'iteration' | 'action_id' | 'tool_name'>,
  executionRef: string,
): void {
  record(state, {
    type: 'ACTION_RESULT',
    ...about,
    status: result.status,
    exit_code: result.exitCode,
    signal: result.signal,
    observation_content: result.observation,
    execution_ref: executionRef,
    duration_ms: result.durationMs,
  })
}

/** With an `on_interrupt` other than `report`, a stop leaves the call open as a crash would: `settle` runs it again, or asks. */
function isLeftOpen({ tool }: ReadyCall, { status }: ToolResult): boolean {
  return status === 'INTERRUPTED' && interruptPolicy(tool) !== 'report'
}

/** Output that does not fit into a record lies beside it. */
export function outputPrefixOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, '')
}

/** Removes output files whose text the record holds, and which a killed engine did not come to remove. */
export function removeLeftOutput(recordPath: string): void {
  quietly(() => {
    const record = readIfThere(recordPath)?.toString()
    if (record !== undefined) removeInlined(outputPrefixOf(recordPath), JSON.parse(record))
  })
}

/** The record may be torn or, of an old run, a directory, or the command has put something else in their place; the run has its result. */
function quietly(remove: () => void): void {
  try {
    remove()
  } catch {
    // the files stay
  }
}

function execute(state: RunState, call: Call, prepared: ReadyCall, file: RecordFile): Promise<ToolResult> {
  return runPrepared(prepared, {
    workDirectory: state.run.workDirectory,
    environment: state.environment,
    credentials: state.credentials,
    policy: state.agent.policy,
    actionId: call.action_id,
    outputPrefix: outputPrefixOf(file.path),
    keepOutput: true,
    signal: state.signal,
    graceMs: state.graceMs,
    secretTokens: secretTokens(state.run.paths.secrets),
    erasedTokens: state.earlierSecretTokens,
    onSpawn({ pid }) {
      file.write(describeProcess(pid), 0)
      file.close() // if the command tampers with its record, the next write must notice
    },
  })
}

/** The record of a command that has ended, as the text of its file; it replaces the note of who was running. */
function executionRecord(call: Call, prepared: ReadyCall, result: ToolResult): string {
  const record = {
    action_id: call.action_id,
    tool_name: call.name,
    argv: prepared.argv,
    status: result.status,
    exit_code: result.exitCode,
    signal: result.signal,
    duration_ms: result.durationMs,
    stdout: result.stdout,
    stderr: result.stderr,
  }
  return `${JSON.stringify(record, null, 2)}\n`
}
