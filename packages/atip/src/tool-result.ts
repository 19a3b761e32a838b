import { AtipUsageError } from './errors.js'
import type { Provider, ToolMessageOf } from './providers.js'

/**
 * The message that hands a tool's result back to a provider.
 *
 * @param id - The call's id, as `parseToolCall` gave it.
 * @param result - Any JSON value. OpenAI and Anthropic get it as JSON text (so a string arrives in
 *   quotes), Gemini as it is.
 * @throws {AtipUsageError} The result cannot be written as JSON: it leads back to itself, say, or holds a BigInt.
 */
export function handleToolResult<P extends Provider>(
  provider: P,
  id: string,
  result: unknown,
): ToolMessageOf[P] {
  return messages[provider](id, result)
}

const messages: { [P in Provider]: (id: string, result: unknown) => ToolMessageOf[P] } = {
  openai: (id, result) => ({ role: 'tool', tool_call_id: id, content: toJson(result) }),
  gemini: (id, result) => ({
    role: 'user',
    parts: [{ function_response: { name: id.replace(/#\d+$/, ''), response: result } }],
  }),
  anthropic: (id, result) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: toJson(result) }],
  }),
}

function toJson(result: unknown): string {
  // JSON has no text for undefined, and providers refuse a message without content.
  try {
    return JSON.stringify(result) ?? 'undefined'
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    const message = `handleToolResult: the result cannot be written as JSON (${why}).\nPass a text, or what JSON.stringify takes.`
    throw new AtipUsageError(message, { cause: error })
  }
}
