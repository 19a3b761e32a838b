import type { AssistantMessage, ToolCall } from './chat.js'
import { mapTexts, someText } from './texts.js'

/**
 * The message with no half characters, which servers cut off: JSON can spell them, but `jq` and strict servers refuse it. They
 * become replacement characters; in the text of arguments they are spelled out, so that whoever reads it still sees that no
 * such value was meant.
 */
export function wellFormed(message: AssistantMessage): AssistantMessage {
  const { tool_calls: calls } = message
  return withoutHalves(calls ? { ...message, tool_calls: calls.map(withHalvesSpelt) } : message)
}

function withHalvesSpelt(call: ToolCall): ToolCall {
  if (call.function.arguments.isWellFormed()) return call
  const text = call.function.arguments.replace(
    /\p{Surrogate}/gu,
    (half) => `\\u${half.charCodeAt(0).toString(16)}`,
  )
  return { ...call, function: { ...call.function, arguments: text } }
}

/** A JSON value with replacement characters for the half ones in it, for what came out of a call's arguments. */
export function withoutHalves<T>(value: T): T {
  if (!someText(value, (text) => !text.isWellFormed())) return value
  return mapTexts(value, (text) => text.toWellFormed()) as T
}
