import type { AssistantMessage, ToolCall } from './chat.js'
import { mapTexts, someText } from './texts.js'

/**
 * The message without half characters (lone surrogates), which a cut by the server leaves: JSON can spell them, but `jq` and
 * strict servers refuse them. They become replacement characters, but in a call's arguments they are written out as `\uXXXX`,
 * which shows a reader that no such value was meant.
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

/** A JSON value, such as parsed arguments, with replacement characters in place of half characters. */
export function withoutHalves<T>(value: T): T {
  if (!someText(value, (text) => !text.isWellFormed())) return value
  return mapTexts(value, (text) => text.toWellFormed()) as T
}
