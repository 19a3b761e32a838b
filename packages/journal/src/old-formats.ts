import { basename, dirname } from 'node:path'
import { isObject, type RawLine } from './event.js'
import { isToday } from './event-schemas.js'

/**
 * Understands the lines of a run's journal: see `modernise`. v1.1 kept its records in `runtime_io/`, beside `execution/`, where
 * its journal lies.
 */
export function upcast(lines: RawLine[], path: string): unknown[] {
  return modernise(lines, basename(dirname(path)) === 'execution' ? 'runtime_io' : 'io')
}

/** What the lines so far tell about the next one, and where old references lie. */
interface Past {
  ioDirectory: string
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
  return ('payload' in line || line.seq === undefined) && !isToday(line)
}

const TYPES: Record<string, string> = { RUN_START: 'ENGINE_START', RUN_END: 'ENGINE_END' }

function flatten({ payload, ...line }: RawLine): RawLine {
  const fields = isObject(payload) ? payload : payload === undefined ? {} : { payload }
  return { ...line, ...fields, type: TYPES[line.type] ?? line.type }
}

function complete(line: RawLine, requests: RawLine[], past: Past): RawLine {
  const { ioDirectory } = past
  const event = line
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

function remember(line: RawLine, past: Past): void {
  if (typeof line.iteration === 'number') past.iteration = Math.max(past.iteration, line.iteration)
  if (line.type === 'ENGINE_START') past.runId ??= line.run_id
  for (const call of Array.isArray(line.tool_calls) ? line.tool_calls : [])
    past.calls.used.add(call.action_id)
}

/** Old references are bare names; today's are paths, and stay as they are. */
function isComponent(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(value) && !/^\.+$/.test(value)
}

/** A call of the last THOUGHT, and which lines about it were seen. */
interface OpenCall {
  raw: unknown
  action_id: string
  name: unknown
  requests: number
  answered: boolean
}

/** The calls a journal has made so far. */
export interface OldCalls {
  /** Every action id of the run. */
  used: Set<string>
  /** The calls of the last THOUGHT. */
  open: OpenCall[]
}

/**
 * The `tool_calls` of an old THOUGHT, as today's, each with an action id that is unique in the run.
 *
 * @param requests - Stand in where the THOUGHT names no calls.
 */
function thoughtCalls(
  line: RawLine,
  requests: RawLine[],
  { iteration, calls }: { iteration: unknown; calls: OldCalls },
): object[] {
  const found = Array.isArray(line.tool_calls) ? line.tool_calls.map(readCall) : requests.map(callOfRequest)
  calls.open = []
  return found.map((call, index) => {
    const action_id = freshId(call.id, `${iteration}-${index + 1}`, calls.used)
    calls.used.add(action_id)
    calls.open.push({ raw: call.id, action_id, name: call.name, requests: 0, answered: false })
    return { ...call, id: typeof call.id === 'string' ? call.id : action_id, action_id }
  })
}

/** OpenAI's spelling: `{ id, type: 'function', function: { name, arguments } }`. */
function readCall(call: unknown): { id: unknown; name: unknown; arguments: unknown } {
  if (!isObject(call)) return { id: undefined, name: undefined, arguments: undefined }
  const { id, type: _, function: called, ...rest } = call
  return isObject(called)
    ? { ...rest, id, name: called.name, arguments: called.arguments }
    : { ...rest, id, name: call.name, arguments: call.arguments }
}

function callOfRequest({ action_id, tool_name, tool_args }: RawLine) {
  return { id: action_id, name: tool_name, arguments: JSON.stringify(tool_args ?? {}) }
}

/** The fields of a request that its call settles: the id that is unique in the run, and the attempt. */
function claimRequest(line: RawLine, { open }: OldCalls): object {
  const call =
    open.find((each) => isAbout(each, line) && each.requests === 0) ??
    open.find((each) => isAbout(each, line))
  if (!call) return { attempt: line.attempt ?? 1 }
  call.requests += 1
  return { action_id: call.action_id, attempt: line.attempt ?? call.requests }
}

/** The fields of a result that its call settles. */
function claimResult(line: RawLine, { open }: OldCalls): object {
  const call = open.find((each) => isAbout(each, line) && !each.answered)
  if (!call) return {}
  call.answered = true
  return { action_id: call.action_id, tool_name: line.tool_name ?? call.name }
}

/** By the id where the line has one, else by the tool's name. */
function isAbout(call: OpenCall, { action_id, tool_name }: RawLine): boolean {
  return action_id === undefined
    ? call.name === tool_name
    : call.raw === action_id || call.action_id === action_id
}

function freshId(id: unknown, otherwise: string, used: Set<string>): string {
  return typeof id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(id) && !used.has(id) ? id : otherwise
}

/** The requests between a THOUGHT and the next one. */
function requestsAfter(lines: RawLine[], index: number): RawLine[] {
  const requests: RawLine[] = []
  if (lines[index]?.type !== 'THOUGHT') return requests
  for (const line of lines.slice(index + 1, nextThought(lines, index))) {
    if (line.type === 'ACTION_REQUEST') requests.push(line)
  }
  return requests
}

function nextThought(lines: RawLine[], index: number): number {
  let next = index + 1
  while (next < lines.length && lines[next]?.type !== 'THOUGHT') next += 1
  return next
}
