import { basename } from 'node:path'
import { isEvent } from '../events/check.js'
import type { StoredEvent } from '../events/event.js'
import type { RawLine } from '../events/raw-line.js'
import { isObject } from '../is-object.js'
import { claimRequest, claimResult, type OldCalls, requestsAfter, thoughtCalls } from './old-calls.js'

/** What the lines so far tell about the next one, and where old references lie. */
interface Past {
  ioDirectory: string
  seq: number
  timestamp: string
  iteration: number
  runId: unknown
  calls: OldCalls
}

/**
 * Understands the lines of older formats as today's events.
 *
 * Accepts envelopes (`payload`), `RUN_START` and `RUN_END`, calls in OpenAI's
 * spelling or none at all, and lines without a number, a time or an iteration.
 * Numbered flat lines pass through as they are, so formats may be mixed in one file.
 *
 * @param lines - All lines of the journal: what one lacks comes from those around it.
 * @param ioDirectory - Where old references lie, relative to the run directory.
 * @returns One value per line; one that still is no event is for the caller to report.
 */
export function modernise(lines: RawLine[], ioDirectory: string): unknown[] {
  const flat = lines.map((line) => (isOlder(line) ? flatten(line) : line))
  const past: Past = {
    ioDirectory,
    seq: 0,
    timestamp: new Date(0).toISOString(),
    iteration: 0,
    runId: undefined,
    calls: { used: new Set(), open: [] },
  }
  return flat.map((line, index) => {
    const event = line !== lines[index] ? complete(line, requestsAfter(flat, index), past) : line
    remember(event, past)
    return event
  })
}

/**
 * Only an envelope or a line without a number may lack fields. A numbered flat
 * line is today's, and what it lacks it has lost: completing it would hide damage.
 */
function isOlder(line: RawLine): boolean {
  return ('payload' in line || line.seq === undefined) && !isEvent(line)
}

const TYPES: Record<string, string> = { RUN_START: 'ENGINE_START', RUN_END: 'ENGINE_END' }

function flatten({ payload, ...line }: RawLine): RawLine {
  const fields = isObject(payload) ? payload : payload === undefined ? {} : { payload }
  return { ...line, ...fields, type: TYPES[line.type] ?? line.type }
}

function complete(line: RawLine, requests: RawLine[], past: Past): RawLine {
  const { ioDirectory } = past
  const event = { seq: past.seq + 1, timestamp: past.timestamp, ...line }
  const iteration = typeof line.iteration === 'number' ? line.iteration : Math.max(past.iteration, 1)
  switch (line.type) {
    case 'ENGINE_START':
      return { resumed: past.runId !== undefined, ...agentOf(line), ...event }
    case 'ENGINE_END':
      return { run_id: past.runId, final_iteration: past.iteration, ...event }
    case 'THOUGHT':
      return completeThought({ ...event, iteration: line.iteration ?? past.iteration + 1 }, requests, past)
    case 'ACTION_REQUEST':
      return { iteration, ...event, ...claimRequest(line, past.calls) }
    case 'ACTION_RESULT':
      return {
        iteration,
        status: statusOf(line),
        ...event,
        ...claimResult(line, past.calls),
        ...executionOf(line, ioDirectory),
      }
    case 'HOOK_EXECUTION_AUDIT':
      return { ...event, ...hookRecordOf(line, ioDirectory) }
    default:
      return event
  }
}

function agentOf({ agent_ref: agent }: RawLine): object {
  return typeof agent === 'string' ? { agent_home: agent, agent_name: basename(agent) } : {}
}

function completeThought(line: RawLine, requests: RawLine[], { calls, ioDirectory }: Past): RawLine {
  const { iteration, llm_invocation_ref: ref } = line
  return {
    ...line,
    content: line.content === null ? '' : line.content,
    tool_calls: thoughtCalls(line, requests, { iteration, calls }),
    ...(isComponent(ref) && { llm_invocation_ref: `${ioDirectory}/invocations/${ref}` }),
  }
}

function statusOf({ exit_code }: RawLine): string {
  return exit_code === undefined || exit_code === null || exit_code === 0 ? 'SUCCESS' : 'FAILED'
}

function executionOf({ execution_ref: ref }: RawLine, ioDirectory: string): object {
  return isComponent(ref) ? { execution_ref: `${ioDirectory}/tool_executions/${ref}` } : {}
}

function hookRecordOf({ io_path_ref: ref }: RawLine, ioDirectory: string): object {
  return typeof ref === 'string' ? { io_path_ref: ref.replace(/^runtime_io\//, `${ioDirectory}/`) } : {}
}

function remember(event: RawLine | StoredEvent, past: Past): void {
  const line = event as RawLine
  if (typeof line.seq === 'number') past.seq = Math.max(past.seq, line.seq)
  if (typeof line.timestamp === 'string') past.timestamp = line.timestamp
  if (typeof line.iteration === 'number') past.iteration = Math.max(past.iteration, line.iteration)
  if (line.type === 'ENGINE_START') past.runId ??= line.run_id
  for (const call of Array.isArray(line.tool_calls) ? line.tool_calls : [])
    past.calls.used.add(call.action_id)
}

/** Old references are bare names; today's are paths, and stay as they are. */
function isComponent(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(value) && !/^\.+$/.test(value)
}
