import { basename, dirname } from 'node:path'
import { type EventSchema, isObject, type RawLine } from './event.js'
import { isToday, type StoredEvent, todaySchema } from './events.js'

/**
 * What the journal of a run holds: pass it to `openJournal`, `readJournal` and the others. Events of unknown types, and
 * further fields, are let through; lines of earlier formats are understood as events of today.
 */
export const runEventSchema: EventSchema<StoredEvent> = {
  ...todaySchema,
  // v1.1 kept its records in `runtime_io/`, beside `execution/`, where its journal lies
  upcast: (lines, path) => modernise(lines, basename(dirname(path)) === 'execution' ? 'runtime_io' : 'io'),
}

/** What the lines so far tell about the next one, and where old references lie. */
interface Past {
  ioDirectory: string
  iteration: number
  runId: unknown
  /** Every action id of the run. */
  used: Set<string>
  /** The calls of the last THOUGHT. */
  calls: OldCall[]
}

/** A call of the last THOUGHT, and which lines about it were seen. */
interface OldCall {
  id: unknown
  action_id: string
  name: unknown
  requests: number
  answered: boolean
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
 * @returns One value per line; one that still is not an event is for the caller to report.
 */
export function modernise(lines: RawLine[], ioDirectory: string): unknown[] {
  const flat = lines.map((line) => (isOlder(line) ? flatten(line) : line))
  const past: Past = { ioDirectory, iteration: 0, runId: undefined, used: new Set(), calls: [] }
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

/** The requests between a THOUGHT and the next one. */
function requestsAfter(lines: RawLine[], index: number): RawLine[] {
  if (lines[index]?.type !== 'THOUGHT') return []
  const rest = lines.slice(index + 1)
  const next = rest.findIndex(({ type }) => type === 'THOUGHT')
  return rest.slice(0, next === -1 ? undefined : next).filter(({ type }) => type === 'ACTION_REQUEST')
}

function remember(event: RawLine, past: Past): void {
  if (typeof event.iteration === 'number') past.iteration = Math.max(past.iteration, event.iteration)
  if (event.type === 'ENGINE_START') past.runId ??= event.run_id
  for (const call of Array.isArray(event.tool_calls) ? event.tool_calls : []) past.used.add(call.action_id)
}

function complete(line: RawLine, requests: RawLine[], past: Past): RawLine {
  const { ioDirectory } = past
  const iteration = typeof line.iteration === 'number' ? line.iteration : Math.max(past.iteration, 1)
  switch (line.type) {
    case 'ENGINE_START': {
      const { agent_ref: agent } = line
      const names = typeof agent === 'string' ? { agent_home: agent, agent_name: basename(agent) } : {}
      return { resumed: past.runId !== undefined, ...names, ...line }
    }
    case 'ENGINE_END':
      return { run_id: past.runId, final_iteration: past.iteration, ...line }
    case 'THOUGHT':
      return completeThought({ ...line, iteration: line.iteration ?? past.iteration + 1 }, requests, past)
    case 'ACTION_REQUEST':
      return { iteration, ...line, ...claimRequest(line, past.calls) }
    case 'ACTION_RESULT':
      return {
        iteration,
        status: line.exit_code ? 'FAILED' : 'SUCCESS',
        ...line,
        ...claimResult(line, past.calls),
        ...pathOf('execution_ref', line, `${ioDirectory}/tool_executions`),
      }
    case 'HOOK_EXECUTION_AUDIT': {
      const { io_path_ref: ref } = line
      return typeof ref === 'string'
        ? { ...line, io_path_ref: ref.replace(/^runtime_io\//, `${ioDirectory}/`) }
        : line
    }
    default:
      return line
  }
}

function completeThought(line: RawLine, requests: RawLine[], past: Past): RawLine {
  return {
    ...line,
    content: line.content === null ? '' : line.content,
    tool_calls: thoughtCalls(line, requests, past),
    ...pathOf('llm_invocation_ref', line, `${past.ioDirectory}/invocations`),
  }
}

/** Old references are bare names; today's are paths, and stay as they are. */
function pathOf(field: string, line: RawLine, directory: string): object {
  const { [field]: name } = line
  const isName = typeof name === 'string' && /^[A-Za-z0-9._-]{1,255}$/.test(name) && !/^\.+$/.test(name)
  return isName ? { [field]: `${directory}/${name}` } : {}
}

/**
 * The `tool_calls` of an old THOUGHT, as today's, each with an action id that is unique in the run.
 *
 * @param requests - Stand in where the THOUGHT names no calls.
 */
function thoughtCalls(line: RawLine, requests: RawLine[], past: Past): object[] {
  const { tool_calls: named, iteration } = line
  const found = Array.isArray(named) ? named.map(readCall) : requests.map(callOfRequest)
  past.calls = []
  return found.map((call, index) => {
    const { id, name } = call
    const action_id = freshId(id, `${iteration}-${index + 1}`, past.used)
    past.used.add(action_id)
    past.calls.push({ id, action_id, name, requests: 0, answered: false })
    return { ...call, id: typeof id === 'string' ? id : action_id, action_id }
  })
}

/** OpenAI's spelling: `{ id, type: 'function', function: { name, arguments } }`. */
function readCall(call: unknown): { id: unknown; name: unknown; arguments: unknown } {
  if (!isObject(call)) return { id: undefined, name: undefined, arguments: undefined }
  const { id, type: _, function: called, ...rest } = call
  const { name, arguments: raw } = isObject(called) ? called : call
  return { ...rest, id, name, arguments: raw }
}

function callOfRequest({ action_id, tool_name, tool_args }: RawLine) {
  return { id: action_id, name: tool_name, arguments: JSON.stringify(tool_args ?? {}) }
}

function freshId(id: unknown, otherwise: string, used: Set<string>): string {
  return typeof id === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(id) && !used.has(id) ? id : otherwise
}

/** The fields of a request that its call settles: the id that is unique in the run, and the attempt. */
function claimRequest(line: RawLine, calls: OldCall[]): object {
  const about = calls.filter((call) => isAbout(call, line))
  const call = about.find(({ requests }) => requests === 0) ?? about[0]
  if (!call) return { attempt: line.attempt ?? 1 }
  call.requests += 1
  return { action_id: call.action_id, attempt: line.attempt ?? call.requests }
}

/** The fields of a result that its call settles. */
function claimResult(line: RawLine, calls: OldCall[]): object {
  const call = calls.find((each) => isAbout(each, line) && !each.answered)
  if (!call) return {}
  call.answered = true
  return { action_id: call.action_id, tool_name: line.tool_name ?? call.name }
}

/** By the id where the line has one, else by the tool's name. */
function isAbout(call: OldCall, { action_id, tool_name }: RawLine): boolean {
  return action_id === undefined
    ? call.name === tool_name
    : call.id === action_id || call.action_id === action_id
}
