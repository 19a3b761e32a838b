import type { Thought, ToolCallRecord } from '@delta/journal/runs'
import type { AssistantMessage, ToolCall } from '@delta/model'

/**
 * A thought as the message it was, with the conversation's own call ids.
 *
 * Where the provider's own message was kept it is sent back with all its fields, so that reasoning and signatures
 * return as they came.
 *
 * @param callIds - What each call is called in the conversation, by action id.
 */
export function assistantMessage(
  { content, tool_calls: calls, message }: Thought,
  callIds: ReadonlyMap<string, string>,
): AssistantMessage {
  const kept = isMap(message) ? message : {}
  const { tool_calls: keptCalls, ...fields } = kept
  const silent = content === '' && calls.length > 0
  const text = 'content' in kept ? (kept.content as string | null) : silent ? null : content
  if (calls.length === 0) return { ...fields, role: 'assistant', content: text ?? '' }

  const written: unknown[] = Array.isArray(keptCalls) ? keptCalls : []
  const toolCalls = calls.map((call, index) =>
    toolCall(call, callIds.get(call.action_id) ?? call.action_id, written[index]),
  )
  return { ...fields, role: 'assistant', content: text, tool_calls: toolCalls }
}

function toolCall({ name, arguments: text }: ToolCallRecord, id: string, kept: unknown): ToolCall {
  const fields = isMap(kept) ? kept : {}
  return {
    ...fields,
    id,
    type: 'function',
    function: { name: sendableName(name), arguments: sendableArguments(text) },
  }
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
