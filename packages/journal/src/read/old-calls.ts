import type { RawLine } from '../events/raw-line.js'
import { isObject } from '../is-object.js'

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
export function thoughtCalls(
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
export function claimRequest(line: RawLine, { open }: OldCalls): object {
  const call =
    open.find((each) => isAbout(each, line) && each.requests === 0) ??
    open.find((each) => isAbout(each, line))
  if (!call) return { attempt: line.attempt ?? 1 }
  call.requests += 1
  return { action_id: call.action_id, attempt: line.attempt ?? call.requests }
}

/** The fields of a result that its call settles. */
export function claimResult(line: RawLine, { open }: OldCalls): object {
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
export function requestsAfter(lines: RawLine[], index: number): RawLine[] {
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
