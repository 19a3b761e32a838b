import {
  type ActionResult,
  isKnownEvent,
  type StoredEvent,
  type Thought,
  type ToolCallRecord,
} from '@delta/journal/runs'
import type { AssistantMessage, ChatMessage, Content, ToolCall } from '@delta/model'
import { movesPaths, withNewPaths } from './moved-paths.js'
import { type SizedMessage, sizeMessage } from './size.js'

/** Messages that are kept or dropped together. */
export interface MessageGroup {
  /**
   * `iteration`: a thought with all its results. `dropped`: a mark in the place of iterations that were left out. `user`,
   * `system`: one message.
   */
  kind: 'iteration' | 'dropped' | 'user' | 'system'
  /** The iteration that the group is, belongs to or stands for. They count from 1. */
  iteration?: number
  messages: readonly SizedMessage[]
}

export function messagesOf(groups: readonly MessageGroup[]): SizedMessage[] {
  const all: SizedMessage[] = []
  for (const { messages } of groups) all.push(...messages)
  return all
}

/**
 * The whole conversation of a run as chat messages, in a form that a strict API accepts.
 *
 * @example
 * const { events } = await readJournal('journal.jsonl')
 * const messages = conversationFromEvents(events)
 */
export function conversationFromEvents(events: Iterable<StoredEvent>): ChatMessage[] {
  return messagesOf(groupsOf(events)).map(({ message }) => message)
}

export function groupsOf(events: Iterable<StoredEvent>): MessageGroup[] {
  const collector = collectGroups()
  for (const event of withNewPaths([...events])) collector.push(event)
  return collector.groups()
}

/** The conversation of a run that goes on. */
export interface Conversation {
  /** The conversation up to now. */
  groups(): Promise<MessageGroup[]>
  /** When the run began, in ISO 8601; undefined before its first event. */
  startedAt(): Promise<string | undefined>
}

/** A fork begins behind the events that it has from another run. */
export function startOf(events: readonly StoredEvent[]): string | undefined {
  return events.find((event) => !isKnownEvent(event) || !event.inherited)?.timestamp
}

/**
 * Follows a growing list of events, and reads each event once.
 *
 * @param read - Returns the list, as `events` of an open run does. Another list is read from its beginning.
 */
export function followEvents(read: () => Promise<readonly StoredEvent[]>): Conversation {
  let collector = collectGroups()
  let seen: readonly StoredEvent[] | undefined
  let count = 0
  return {
    async groups() {
      const events = await read()
      if (events !== seen || events.slice(count).some(movesPaths)) {
        collector = collectGroups()
        count = 0
      }
      const added = count === 0 ? withNewPaths(events) : events.slice(count)
      for (const event of added) collector.push(event)
      seen = events
      count = events.length
      return collector.groups()
    },
    startedAt: async () => startOf(await read()),
  }
}

/**
 * Collects a conversation from events in their order, in a form that a strict API accepts.
 *
 * Results stand in the order of the calls. What users and the engine say between a thought and its last result comes after that
 * result. A call without a result gets a message that says so, and a result without a call is left out. A retry of the run
 * removes the answer before it, because the request is made again.
 */
function collectGroups() {
  const closed: MessageGroup[] = []
  const usedIds = new Set<string>()
  let open: OpenIteration | undefined

  const close = () => {
    if (open !== undefined) closed.push(...render(open))
    open = undefined
  }
  const say = (kind: 'user' | 'system', content: Content, iteration?: number) => {
    if (open !== undefined && isAnswered(open)) close()
    const groups = open === undefined ? closed : open.later
    const messages = [sizeMessage({ role: kind, content })]
    groups.push({ kind, messages, ...(iteration !== undefined && { iteration }) })
  }

  function push(event: StoredEvent): void {
    if (!isKnownEvent(event)) return
    const call = 'action_id' in event ? open?.calls.get(event.action_id ?? '') : undefined
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
        open = openIteration(event, usedIds)
        break
      case 'ACTION_REQUEST':
        if (call) call.pendingState = 'started'
        break
      case 'HUMAN_INPUT_REQUEST':
        if (call) call.pendingState = 'asked'
        break
      case 'ACTION_RESULT':
        if (call) call.result = resultOf(event)
        if (call) call.message = sizeMessage(answerTo(call))
        break
      case 'HOOK_EXECUTION_AUDIT':
        if (call) call.override = event.observation_override ?? call.override
        if (call?.override !== undefined) call.message = sizeMessage(answerTo(call))
    }
  }

  return { push, groups: () => [...closed, ...(open === undefined ? [] : render(open))] }
}

/** A thought whose results may still arrive. */
interface OpenIteration {
  thought: Thought
  /** What the model said, as a message. */
  said: SizedMessage
  /** By action id. */
  calls: Map<string, OpenCall>
  later: MessageGroup[]
}

interface OpenCall {
  /** Its id in the conversation. */
  id: string
  result?: { content: Content; isError: boolean } | undefined
  /** Takes the place of the result: a hook's. */
  override?: string | undefined
  pendingState: keyof typeof pendingStates
  /** Made when the result arrives, so that each later request holds the same object. */
  message?: SizedMessage
}

/** What a tool returned: parts, if it has images or files, else text. */
function resultOf({ parts = [], observation_content: text, status }: ActionResult): OpenCall['result'] {
  return { content: parts.length > 0 ? parts : text, isError: status !== 'SUCCESS' }
}

/** The states of a call without a result. The model reads these texts, so that it neither waits nor repeats a call blindly. */
const pendingStates = {
  started:
    '[No result: the run was interrupted during this call. It may have taken effect completely, in part, or not at all. ' +
    'Check what is there before you repeat it.]',
  asked: '[No result yet: this call waits for a person.]',
  never: '[No result: the run was interrupted before this call. It had no effect and can be repeated.]',
}

function openIteration(thought: Thought, usedIds: Set<string>): OpenIteration {
  const calls = new Map(
    thought.tool_calls.map(({ action_id }, index): [string, OpenCall] => {
      const id = unusedId(action_id, `${thought.iteration}-${index}`, usedIds)
      return [action_id, { id, pendingState: 'never' }]
    }),
  )
  const said = sizeMessage(
    assistantMessage(thought, ({ action_id }) => calls.get(action_id)?.id ?? action_id),
  )
  return { thought, said, calls, later: [] }
}

/** Journals of older engines hold ids that some servers used again in every response. */
function unusedId(id: string, otherwise: string, usedIds: Set<string>): string {
  let unused = id
  for (let count = 1; usedIds.has(unused); count++) unused = count === 1 ? otherwise : `${otherwise}-${count}`
  usedIds.add(unused)
  return unused
}

function isAnswered({ calls }: OpenIteration): boolean {
  return [...calls.values()].every(({ result }) => result !== undefined)
}

/** The iteration up to now, and behind it what was said meanwhile. */
function render({ thought, said, calls, later }: OpenIteration): MessageGroup[] {
  const results = thought.tool_calls.map(({ action_id }) => {
    const call = calls.get(action_id) as OpenCall
    return call.message ?? sizeMessage(answerTo(call))
  })
  return [{ kind: 'iteration', iteration: thought.iteration, messages: [said, ...results] }, ...later]
}

function answerTo({ id, override, result, pendingState }: OpenCall): ChatMessage {
  const content = override ?? result?.content ?? pendingStates[pendingState]
  return { role: 'tool', tool_call_id: id, content, ...(result?.isError !== false && { is_error: true }) }
}

/**
 * The message of a thought, with the conversation's own call ids. The provider's own message, if it was kept, is sent back with
 * all its fields, so that reasoning and signatures return unchanged.
 */
function assistantMessage(
  { content, tool_calls: calls, message, iteration }: Thought,
  idOf: (call: ToolCallRecord) => string,
): AssistantMessage {
  const kept = isMap(message) ? message : {}
  const { tool_calls: keptCalls, ...others } = kept
  const fields = isMap(message) ? { ...others, iteration } : {}
  const isSilent = content === '' && calls.length > 0
  const text = 'content' in kept ? (kept.content as string | null) : isSilent ? null : content
  if (calls.length === 0) return { ...fields, role: 'assistant', content: text ?? '' }

  const written: unknown[] = Array.isArray(keptCalls) ? keptCalls : []
  const toolCalls = calls.map((call, index): ToolCall => {
    const called = { name: sendableName(call.name), arguments: sendableArguments(call.arguments) }
    const more = isMap(written[index]) ? written[index] : {}
    return { ...more, id: idOf(call), type: 'function', function: called }
  })
  return { ...fields, role: 'assistant', content: text, tool_calls: toolCalls }
}

/** A tool's name in a form that every server accepts: a model may invent any name. */
function sendableName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'unnamed'
}

/**
 * A call's arguments in a form that every server accepts: a JSON object byte for byte, anything else as a string inside an
 * object. Servers that parse the history would refuse every further request otherwise.
 */
function sendableArguments(text: string): string {
  if (text.trim() === '') return '{}'
  return isJsonObject(text) ? text : JSON.stringify({ malformed_arguments: text })
}

function isJsonObject(text: string): boolean {
  try {
    return isMap(JSON.parse(text))
  } catch {
    return false // not JSON
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Keeps the last `most` iterations, the engine's messages that belong to them, and every message of a user.
 *
 * @param options.dropTo - Drops so many at once that only after `most - dropTo` further iterations some must be dropped again: the
 *   beginning stays the same until then. How many follows from the number of all iterations alone.
 */
export function keepLastIterations(
  groups: readonly MessageGroup[],
  most: number,
  { dropTo = most - 1, dropped }: { dropTo?: number | undefined; dropped?: string | undefined } = {},
): MessageGroup[] {
  const numbers = groups.flatMap(({ kind, iteration }) => (kind === 'iteration' ? (iteration ?? []) : []))
  if (numbers.length <= most) return [...groups]
  const step = most - dropTo
  const first = numbers[step * Math.ceil((numbers.length - most) / step)]
  return keepFrom(
    groups,
    groups.findIndex(({ iteration }) => iteration === first),
    dropped,
  )
}

/**
 * Keeps every message of a user, and everything from the group at `start` on.
 *
 * @param dropped - Text of a mark in the place of the last iteration that is left out. `${count}` in it is the number of that
 *   iteration, and so of all that are left out.
 */
export function keepFrom(groups: readonly MessageGroup[], start: number, dropped?: string): MessageGroup[] {
  const last = groups.findLastIndex(
    ({ kind }, at) => at < start && (kind === 'iteration' || kind === 'dropped'),
  )
  return groups.flatMap((group, index) => {
    if (index === last && dropped !== undefined) return [markFor(group, dropped)]
    return index >= start || group.kind === 'user' ? [group] : []
  })
}

function markFor({ iteration = 0 }: MessageGroup, dropped: string): MessageGroup {
  const content = dropped.replaceAll('${count}', String(iteration))
  return { kind: 'dropped', iteration, messages: [sizeMessage({ role: 'user', content })] }
}
