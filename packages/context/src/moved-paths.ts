import { type ContentPart, isKnownEvent, type JournalEvent, type StoredEvent } from '@delta/journal/runs'
import type { AssistantMessage } from '@delta/model'

/** Replaces old paths in a text. */
type Replace = (text: string) => string

/**
 * The events as the model gets them: in those before an `ENGINE_START` with `paths`, each old path is the new one.
 *
 * Where several starts have paths, an event gets them in their order: a fork of a fork leads from the first workspace to the last.
 * Reasoning, signatures and encrypted content stay as they came: their provider checks them.
 */
export function withNewPaths(events: readonly StoredEvent[]): readonly StoredEvent[] {
  if (!events.some(movesPaths)) return events
  let replace: Replace | undefined
  const moved = events.toReversed().map((event) => {
    const said = replace === undefined ? event : withReplaced(event, replace)
    if (movesPaths(event)) replace = inOrder(replacing(event.paths), replace)
    return said
  })
  return moved.reverse()
}

type MovingStart = Extract<JournalEvent, { type: 'ENGINE_START' }> & { paths: [string, string][] }

/** True for the start of an engine that found the run in other directories than those before it. */
export function movesPaths(event: StoredEvent): event is MovingStart {
  return isKnownEvent(event) && event.type === 'ENGINE_START' && (event.paths ?? []).length > 0
}

function inOrder(first: Replace, then: Replace | undefined): Replace {
  return then === undefined ? first : (text) => then(first(text))
}

/** An answer of a model with old paths replaced by new ones, as `withNewPaths` does it in a `THOUGHT`. */
export function answerWithNewPaths(
  answer: AssistantMessage,
  pairs: readonly (readonly [string, string])[],
): AssistantMessage {
  const replace = replacing(pairs)
  const { tool_calls: calls } = answer
  return {
    ...(inMessage(answer, replace) as AssistantMessage),
    ...(calls && { tool_calls: calls.map((call) => callWithNewPaths(call, replace)) }),
  }
}

function callWithNewPaths<Call extends { function: { arguments: string } }>(
  call: Call,
  replace: Replace,
): Call {
  return {
    ...call,
    function: { ...call.function, arguments: inJson(call.function.arguments, replace) },
  }
}

/**
 * Replaces the first path of each pair by the second. The longest path counts, and only where it ends: `/w/x` is not in
 * `/w/x-agent` or `/w/x.bak`. A full stop ends a sentence where no name goes on behind it.
 */
export function replacing(pairs: readonly (readonly [string, string])[]): Replace {
  const newPaths = new Map(pairs.filter(([old, now]) => old !== '' && old !== now))
  if (newPaths.size === 0) return (text) => text
  const longestFirst = [...newPaths.keys()].sort((a, b) => b.length - a.length)
  const oldPaths = longestFirst.map((path) => path.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|')
  const pattern = new RegExp(`(?:${oldPaths})(?![\\p{L}\\p{N}_-]|\\.+[\\p{L}\\p{N}_/-])`, 'gu')
  return (text) => text.replace(pattern, (path) => newPaths.get(path) ?? path)
}

function withReplaced(event: StoredEvent, replace: Replace): StoredEvent {
  if (!isKnownEvent(event)) return event
  switch (event.type) {
    case 'USER_MESSAGE':
      return { ...event, content: inContent(event.content, replace) }
    case 'SYSTEM_MESSAGE':
      return { ...event, content: replace(event.content) }
    case 'ACTION_RESULT':
      return {
        ...event,
        observation_content: replace(event.observation_content),
        ...(event.parts && { parts: inParts(event.parts, replace) }),
      }
    case 'HOOK_EXECUTION_AUDIT': {
      const { observation_override: override } = event
      return { ...event, ...(override !== undefined && { observation_override: replace(override) }) }
    }
    case 'THOUGHT':
      return {
        ...event,
        content: replace(event.content),
        tool_calls: event.tool_calls.map((call) => ({ ...call, arguments: inJson(call.arguments, replace) })),
        ...(event.message !== undefined && { message: inMessage(event.message, replace) }),
      }
    default:
      return event // the model is sent nothing of it
  }
}

function inContent(content: string | ContentPart[], replace: Replace): string | ContentPart[] {
  return typeof content === 'string' ? replace(content) : inParts(content, replace)
}

function inParts(parts: readonly ContentPart[], replace: Replace): ContentPart[] {
  return parts.map((part) => (part.type === 'text' ? { ...part, text: replace(part.text) } : part))
}

/** In each string of a JSON text; all else keeps its bytes. Other text is searched as it stands. */
function inJson(text: string, replace: Replace): string {
  if (!isJson(text)) return replace(text)
  return text.replace(/"(?:[^"\\]|\\.)*"/g, (quoted) => {
    const string: string = JSON.parse(quoted)
    const moved = replace(string)
    return moved === string ? quoted : JSON.stringify(moved)
  })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false // a model may write anything
  }
}

/** The provider's own message: its text, and what is said and called in its items. */
function inMessage(message: unknown, replace: Replace): unknown {
  if (!isObject(message)) return message
  const { content, items } = message
  return {
    ...message,
    ...(content !== undefined && { content: inText(content, replace) }),
    ...(isObject(items) &&
      Array.isArray(items.list) && {
        items: { ...items, list: items.list.map((item: unknown) => inItem(item, replace)) },
      }),
  }
}

/** A text, or a list of parts with texts. */
function inText(content: unknown, replace: Replace): unknown {
  if (typeof content === 'string') return replace(content)
  return Array.isArray(content) ? content.map((part: unknown) => inItem(part, replace)) : content
}

/** An output item of Responses or a content block of Messages, if it is a text or a call. Of others nothing is known. */
function inItem(item: unknown, replace: Replace): unknown {
  if (!isObject(item)) return item
  switch (item.type) {
    case 'text':
    case 'output_text':
      return { ...item, text: inText(item.text, replace) }
    case 'message':
      return { ...item, content: inText(item.content, replace) }
    case 'tool_use':
      return { ...item, input: inValue(item.input, replace) }
    case 'function_call':
      return typeof item.arguments === 'string'
        ? { ...item, arguments: inJson(item.arguments, replace) }
        : item
    default:
      return item
  }
}

function inValue(value: unknown, replace: Replace): unknown {
  if (typeof value === 'string') return replace(value)
  if (Array.isArray(value)) return value.map((each: unknown) => inValue(each, replace))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, inValue(each, replace)]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
