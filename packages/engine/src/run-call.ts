import { createHash } from 'node:crypto'
import { recordProcess, removeInlined, runPrepared, type ToolPart, type ToolResult } from '@delta/executor'
import type { ActionRequest, ActionResult, CommandRecord, ContentPart, Run } from '@delta/journal/runs'
import { stdinSha256 } from './approve.js'
import { failedCritically } from './calls.js'
import { reportResult } from './hooks.js'
import { interrupted, type Outcome } from './outcome.js'
import { repeatCall } from './repeat-call.js'
import {
  type Call,
  environmentOf,
  placeOf,
  type ReadyCall,
  type RunState,
  record,
  warnAuthor,
} from './run-state.js'
import { secretTokens } from './secrets.js'
import { childRunsOf } from './tree.js'

/**
 * Runs an allowed command. `ACTION_REQUEST` means "may have started", and is on disk before the process starts: a crash in
 * between leaves a request without a result, which `settle` of the next engine answers.
 */
export async function runCall(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { iteration, attempt }: { iteration: number; attempt: number },
): Promise<Outcome | undefined> {
  const recorded = state.replay?.call(call, prepared, placeOf(state, call))
  if (recorded) return repeatCall(state, call, prepared, { recorded, attempt })
  await state.snapshots?.beforeCommand()
  if (state.signal.aborted) return interrupted(state.signal) // a hook or a person may have taken long
  const about = { iteration, action_id: call.action_id, tool_name: call.name }
  const { argv } = prepared
  const execution = state.run.recordCommand(call.name, { ...about, argv }) // a command that cannot be recorded must not start
  record(state, {
    type: 'ACTION_REQUEST',
    ...about,
    attempt,
    tool_args: prepared.args,
    resolved_command: prepared.resolvedCommand,
    argv,
    stdin_sha256: stdinSha256(prepared.stdin),
    ...sandboxOf(prepared),
    execution_ref: execution.ref,
  })
  state.run.journal.sync()

  const result = await execute(state, call, prepared, execution)
  // with `on_interrupt: rerun` or `ask`, a stop leaves the call open as a crash would: `settle` runs it again, or asks
  if (result.status === 'INTERRUPTED' && prepared.tool.settings.onInterrupt !== 'report') {
    state.emit({ kind: 'notice', message: `${call.name} was stopped before it had a result.` })
    return interrupted(state.signal)
  }
  const children = await childRunsOf(state, call.action_id)
  const isRecorded = recordResult(state, result, { ...about, ...children, execution, argv })
  warnAuthor(state, result.advice)
  if (isRecorded) removeOutput(outputPrefixOf(execution.path), result) // last, because the next engine needs the output after a crash
  if (result.status === 'INTERRUPTED') return interrupted(state.signal)
  const stopped = await reportResult(state, call, result, iteration)
  return stopped ?? failedCritically(prepared.tool, { ...about, status: result.status })
}

/**
 * Replaces the process record first: after a crash in between, the call has no result yet either.
 *
 * @returns Whether the record could be written: on a full disk the run goes on without.
 */
function recordResult(
  state: RunState,
  result: ToolResult,
  about: Pick<ActionResult, 'iteration' | 'action_id' | 'tool_name' | 'child_runs'> & {
    execution: CommandRecord
    argv: string[]
  },
): boolean {
  const { execution, argv, ...call } = about
  const { status, exitCode: exit_code, signal, durationMs: duration_ms, stdout, stderr } = result
  const { action_id, tool_name } = call
  const ended = { action_id, tool_name, argv, status, exit_code, signal, duration_ms, stdout, stderr }
  const isRecorded = execution.complete(ended)
  record(state, {
    type: 'ACTION_RESULT',
    ...call,
    status,
    exit_code,
    signal,
    observation_content: result.observation,
    ...(result.parts && { parts: storeParts(state.run, result.parts) }),
    execution_ref: execution.ref,
    duration_ms,
  })
  return isRecorded
}

/** What confines the command, and what runs inside. */
function sandboxOf({ argv, sandbox }: ReadyCall): Pick<ActionRequest, 'sandbox'> {
  if (sandbox === undefined) return {}
  const { prefix } = sandbox
  return { sandbox: { with: prefix[0] ?? '', argv: argv.slice(prefix.length) } }
}

/** Keeps the bytes before the result that names them is recorded; after a crash in between, nothing names them. */
function storeParts({ blobs }: Run, parts: readonly ToolPart[]): ContentPart[] {
  return parts.map((part) => {
    if (part.type === 'text') return part
    const { bytes, mediaType, ...about } = part
    return { ...about, blob: blobs.write(bytes), media_type: mediaType, bytes: bytes.length }
  })
}

/** Path prefix of the files for output that does not fit into the record. */
export function outputPrefixOf(recordPath: string): string {
  return recordPath.replace(/\.json$/, '')
}

function removeOutput(prefix: string, result: ToolResult): void {
  try {
    removeInlined(prefix, result)
  } catch {
    // the command has replaced the files; they stay, and the run has its result
  }
}

/** Unique in the world, and the same in each attempt of a call. A UUID, which every server takes for a key. */
function idempotencyKey(identity: string, actionId: string): string {
  const hash = createHash('sha256').update(`${identity}\n${actionId}`).digest('hex')
  return hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5') // version 8: made of anything
}

function execute(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { path }: CommandRecord,
): Promise<ToolResult> {
  return runPrepared(prepared, {
    cwd: state.run.workDirectory,
    env: environmentOf(state),
    credentials: state.credentials,
    policy: state.agent.policy,
    actionId: call.action_id,
    idempotencyKey: idempotencyKey(state.identity, call.action_id),
    outputPrefix: outputPrefixOf(path),
    keepOutput: true,
    signal: state.signal,
    graceMs: state.graceMs,
    secretTokens: secretTokens(state.run.paths.secrets),
    erasedTokens: state.earlierSecretTokens,
    matches: state.matcher(),
    onSpawn: ({ pid }) => recordProcess(path, pid),
  })
}
