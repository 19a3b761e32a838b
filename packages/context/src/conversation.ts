import { isKnownEvent, type StoredEvent, type Thought, type ToolCallRecord } from '@delta/journal/runs'
import type { AssistantMessage, ChatMessage, Content, ToolCall } from '@delta/model'

/** A message as it is sent. */
export interface SizedMessage {
  message: ChatMessage
  /** The message as JSON. */
  json: string
  /** Of the JSON, in UTF-8. */
  bytes: number
}

export function sizeMessage(message: ChatMessage): SizedMessage {
  const json = JSON.stringify(message)
  return { message, json, bytes: Buffer.byteLength(json) }
}

/** A piece of a conversation that is kept or dropped as a whole. */
export interface Turn {
  /**
   * `cycle`: what the model said, with all results; `dropped`: a mark in the place of the last cycle that was left out; the
   * others are single messages from outside.
   */
  kind: 'cycle' | 'dropped' | 'user' | 'system'
  /** The number of the cycle that it is, belongs to or stands for, from 1. */
  iteration?: number
  messages: readonly SizedMessage[]
}

export function* messagesOf(turns: readonly Turn[]): Generator<SizedMessage> {
  for (const { messages } of turns) yield* messages
}

/** The whole conversation of a run as chat messages, in a form that a strict API accepts. */
export function conversationFromEvents(events: Iterable<StoredEvent>): ChatMessage[] {
  return Array.from(messagesOf(turnsOf(events)), ({ message }) => message)
}

export function turnsOf(events: Iterable<StoredEvent>): Turn[] {
  const collector = collectTurns()
  for (const event of events) collector.push(event)
  return collector.turns()
}

/** The conversation of a run that goes on. */
export interface Conversation {
  /** As it is now. */
  turns(): Promise<Turn[]>
}

/**
 * Keeps the conversation of a growing list of events, and looks only at those that were added since.
 *
 * @param read - Gives the list, as `events` of an open run does: another list in its place is looked at from its beginning.
 */
export function followEvents(read: () => Promise<readonly StoredEvent[]>): Conversation {
  let collector = collectTurns()
  let seen: readonly StoredEvent[] | undefined
  let count = 0
  return {
    async turns() {
      const events = await read()
      if (events !== seen) {
        collector = collectTurns()
        count = 0
      }
      for (const event of events.slice(count)) collector.push(event)
      seen = events
      count = events.length
      return collector.turns()
    },
  }
}

/**
 * Reads a conversation out of a run's events, as they come. What comes out is always one that a strict API accepts.
 *
 * Results stand in the order of the calls, whatever order they came in. What users and the engine said between
 * a thought and its last result comes after that result. A call without a result gets an answer that says so, and
 * results nobody asked for are left out. So is an answer after which the run was retried: the request is made again.
 */
function collectTurns() {
  const closed: Turn[] = []
  const usedIds = new Set<string>()
  let open: OpenCycle | undefined

  const close = () => {
    if (open !== undefined) closed.push(...render(open))
    open = undefined
  }
  const say = (kind: 'user' | 'system', content: Content, iteration?: number) => {
    if (open !== undefined && isAnswered(open)) close()
    const turns = open === undefined ? closed : open.later
    const messages = [sizeMessage({ role: kind, content })]
    turns.push({ kind, messages, ...(iteration !== undefined && { iteration }) })
  }

  function push(event: StoredEvent): void {
    if (!isKnownEvent(event)) return
    switch (event.type) {
      case 'USER_MESSAGE':
        say('user', event.content)
        break
      case 'SYSTEM_MESSAGE':
        say('system', event.content, event.iteration)
        break
      case 'ENGINE_START':
        if (event.retry && open?.thought.tool_calls.length === 0) open = undefined
        break
      case 'THOUGHT':
        close()
        open = openCycle(event, usedIds)
        break
      default:
        if (open !== undefined) note(open, event)
    }
  }

  return { push, turns: (): Turn[] => closed.concat(open === undefined ? [] : render(open)) }
}

/** A thought whose results may still come. */
interface OpenCycle {
  thought: Thought
  /** By action id. */
  calls: Map<string, OpenCall>
  later: Turn[]
}

interface OpenCall {
  /** What it is called in the conversation. */
  id: string
  result?: string
  /** What a hook put in the place of the result. */
  override?: string
  /** How far it has come as long as it has no result. */
  fate: keyof typeof WITHOUT_RESULT
}

/** What the model reads in place of a result, so that it neither waits for one nor repeats a call blindly. */
const WITHOUT_RESULT = {
  started:
    '[No result: the run was interrupted during this call. It may have taken effect completely, in part, or not at all. ' +
    'Check what is there before you repeat it.]',
  asked: '[No result yet: this call waits for a person.]',
  never: '[No result: the run was interrupted before this call. It had no effect and can be repeated.]',
}

function openCycle(thought: Thought, usedIds: Set<string>): OpenCycle {
  const calls = thought.tool_calls.map(({ action_id }, index): [string, OpenCall] => {
    return [action_id, { id: unusedId(action_id, `${thought.iteration}-${index}`, usedIds), fate: 'never' }]
  })
  return { thought, calls: new Map(calls), later: [] }
}

/** Journals of older engines hold ids that some servers gave out anew every turn. */
function unusedId(id: string, otherwise: string, usedIds: Set<string>): string {
  let unused = id
  for (let count = 1; usedIds.has(unused); count++) unused = count === 1 ? otherwise : `${otherwise}-${count}`
  usedIds.add(unused)
  return unused
}

/** Remembers what an event says about one of the cycle's calls. */
function note({ calls }: OpenCycle, event: StoredEvent): void {
  if (!isKnownEvent(event) || !('action_id' in event)) return
  const call = calls.get(event.action_id ?? '')
  if (call === undefined) return
  if (event.type === 'ACTION_REQUEST') call.fate = 'started'
  if (event.type === 'HUMAN_INPUT_REQUEST') call.fate = 'asked'
  if (event.type === 'ACTION_RESULT') call.result = event.observation_content
  if (event.type === 'HOOK_EXECUTION_AUDIT' && event.observation_override !== undefined)
    call.override = event.observation_override
}

function isAnswered({ calls }: OpenCycle): boolean {
  return [...calls.values()].every(({ result }) => result !== undefined)
}

/** The cycle as it stands now, and what was said meanwhile behind it. */
function render({ thought, calls, later }: OpenCycle): Turn[] {
  const callOf = ({ action_id }: ToolCallRecord) => calls.get(action_id) as OpenCall
  const results = thought.tool_calls.map((record): ChatMessage => {
    const { id, override, result, fate } = callOf(record)
    return { role: 'tool', tool_call_id: id, content: override ?? result ?? WITHOUT_RESULT[fate] }
  })
  const messages = [assistantMessage(thought, (record) => callOf(record).id), ...results]
  return [{ kind: 'cycle', iteration: thought.iteration, messages: messages.map(sizeMessage) }, ...later]
}

/**
 * A thought as the message it was, with the conversation's own call ids.
 *
 * Where the provider's own message was kept it is sent back with all its fields, so that reasoning and signatures
 * return as they came.
 */
function assistantMessage(
  { content, tool_calls: calls, message }: Thought,
  idOf: (call: ToolCallRecord) => string,
): AssistantMessage {
  const kept = isMap(message) ? message : {}
  const { tool_calls: keptCalls, ...fields } = kept
  const silent = content === '' && calls.length > 0
  const text = 'content' in kept ? (kept.content as string | null) : silent ? null : content
  if (calls.length === 0) return { ...fields, role: 'assistant', content: text ?? '' }

  const written: unknown[] = Array.isArray(keptCalls) ? keptCalls : []
  const toolCalls = calls.map((call, index): ToolCall => {
    const called = { name: sendableName(call.name), arguments: sendableArguments(call.arguments) }
    const others = isMap(written[index]) ? written[index] : {}
    return { ...others, id: idOf(call), type: 'function', function: called }
  })
  return { ...fields, role: 'assistant', content: text, tool_calls: toolCalls }
}

/** A tool's name as every server takes it back; a model may have invented one that none does. */
function sendableName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed'
}

/**
 * A call's arguments as they may be sent back: well-formed ones byte for byte.
 *
 * Models now and then write arguments that are no JSON object, and get an observation that says so. But servers that
 * parse the history would refuse every request from then on. Such arguments are sent as a text inside an object.
 */
function sendableArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return isJsonObject(text) ? text : JSON.stringify({ malformed_arguments: text })
}

function isJsonObject(text: string): boolean {
  try {
    return isMap(JSON.parse(text))
  } catch {
    return false // which is the very question
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Keeps the last `cycles` cycles, and every message of the user's.
 *
 * What the engine said goes with the cycle it belongs to.
 *
 * @param dropped - As for `keepFrom`.
 */
export function keepLastCycles(turns: readonly Turn[], cycles: number, dropped?: string): Turn[] {
  let start = turns.length
  let iteration: number | undefined
  let left = cycles
  for (let index = turns.length - 1; index >= 0; index--) {
    const turn = turns[index]
    if (turn?.kind === 'cycle') {
      if (left === 0) return keepFrom(turns, start, dropped)
      left--
      iteration = turn.iteration
      start = index
    } else if (turn?.iteration !== undefined && turn.iteration === iteration) {
      start = index
    }
  }
  return [...turns]
}

/**
 * What users said, and everything from the turn at `start` on.
 *
 * @param dropped - A mark that stands where the last of the cycles left out stood; `${count}` is how many they are: cycles
 *   are numbered from 1, so also those count that were not even read.
 */
export function keepFrom(turns: readonly Turn[], start: number, dropped?: string): Turn[] {
  const left = turns.findLastIndex(({ kind }, at) => at < start && (kind === 'cycle' || kind === 'dropped'))
  return turns.flatMap((turn, index) => {
    if (index === left && dropped !== undefined) return [markFor(turn, dropped)]
    return index >= start || turn.kind === 'user' ? [turn] : []
  })
}

function markFor({ iteration = 0 }: Turn, dropped: string): Turn {
  const content = dropped.replaceAll('${count}', String(iteration))
  return { kind: 'dropped', iteration, messages: [sizeMessage({ role: 'user', content })] }
}
