import { type ContentPart, type PendingCall, readBlob } from '@delta/journal/runs'
import { approve, type Decision } from './approve.js'
import { failedCritically } from './calls.js'
import { reportResult } from './hooks.js'
import type { Outcome } from './outcome.js'
import type { RecordedCall } from './recorded-run.js'
import { EndOfRecord, type Replay } from './replay-port.js'
import { type Call, placeOf, type ReadyCall, type RunState, record } from './run-state.js'

/** Gives a call the result that it had in the recorded run. Starts nothing, so nothing is recorded of a command. */
export async function repeatCall(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  { recorded, attempt }: { recorded: RecordedCall; attempt: number },
): Promise<Outcome | undefined> {
  const { iteration } = placeOf(state, call)
  const { argv, sandbox, args } = prepared
  const about = { iteration, action_id: call.action_id, tool_name: call.name }
  record(state, {
    type: 'ACTION_REQUEST',
    replayed: true,
    ...about,
    attempt,
    tool_args: args,
    resolved_command: recorded.request?.resolved_command ?? prepared.resolvedCommand,
    argv: argv.slice(sandbox?.prefix.length ?? 0),
    stdin_sha256: recorded.request?.stdin_sha256 ?? null,
    execution_ref: null,
  })
  if (recorded.result === undefined && state.replay) throw new EndOfRecord(state.replay.ending(iteration))
  const result = repeatResult(state, call, recorded, iteration)
  if (result.status === 'INTERRUPTED') return undefined // no hook saw it, and the engine that continued the run went on
  const stopped = await reportResult(state, call, { observation: result.observation_content }, iteration)
  return stopped ?? failedCritically(prepared.tool, { ...about, status: result.status })
}

function repeatResult(state: RunState, call: Call, { result, ...recorded }: RecordedCall, iteration: number) {
  if (result === undefined) throw new TypeError(`The record has no result of ${recorded.name}.`)
  const { status, exit_code, signal, observation_content, duration_ms, parts } = result
  record(state, {
    type: 'ACTION_RESULT',
    replayed: true,
    iteration,
    action_id: call.action_id,
    tool_name: call.name,
    status,
    exit_code: exit_code ?? null,
    signal: signal ?? null,
    observation_content,
    ...(parts && { parts: copyParts(parts, state) }),
    execution_ref: null,
    duration_ms: duration_ms ?? null,
  })
  return result
}

/** The replay's directory holds what its events name. */
function copyParts(parts: readonly ContentPart[], { run, replay }: RunState): ContentPart[] {
  for (const part of parts)
    if (part.type !== 'text' && replay) run.blobs.write(readBlob(replay.directory, part.blob))
  return [...parts]
}

/** Gives a call that was open when the user spoke what an engine gave it then. */
export function settleCall(state: RunState, call: PendingCall, recorded: RecordedCall): void {
  const { iteration } = call
  if (!call.requested)
    record(state, {
      type: 'ACTION_REQUEST',
      replayed: true,
      iteration,
      action_id: call.action_id,
      tool_name: call.name,
      attempt: 1,
      tool_args: recorded.request?.tool_args ?? call.arguments,
      resolved_command: recorded.request?.resolved_command ?? null,
      argv: recorded.request?.argv ?? null,
    })
  repeatResult(state, call, recorded, iteration)
}

/** Asks what was asked then, and answers what was answered. A question without an answer ends the replay where the run waited. */
export async function approveAsRecorded(
  state: RunState,
  call: Call,
  prepared: ReadyCall,
  replay: Replay,
): Promise<Decision> {
  const place = placeOf(state, call)
  const asked = replay.approval(call, prepared, place)
  if (asked === 'allowed' || asked === undefined) return 'yes'
  const ask = async () => asked.answer?.response
  return approve({ ...state, ask }, call, prepared, { iteration: place.iteration, waiting: undefined })
}
