import { type AssistantMessage, type ChatRequest, parseCompletion } from '@delta/model'
import type { Replacement } from '../hook-protocol.js'

/** What a hook may write in place of what it was given. */
export interface Expected<T> extends Replacement {
  /** Parses a text that `problemOf` accepts. */
  read(text: string): T
}

/** The request to send instead. The content of its messages is for the server to judge. */
export const REQUEST: Expected<ChatRequest> = {
  file: 'final_payload.json',
  otherwise: 'payload_override.dat',
  largestMiB: 64,
  problemOf: (text, file) => problemIn(text, file, 'is not a request', problemOfRequest),
  read: (text) => JSON.parse(text),
}

/** The message to use as the model's, parsed as the model's own would be. */
export const MESSAGE: Expected<AssistantMessage> = {
  file: 'payload_override.dat',
  largestMiB: 64,
  problemOf: (text, file) => problemIn(text, file, 'is not an assistant message', problemOfMessage),
  read: (text) => parseCompletion(JSON.parse(text)).message,
}

/** What the model is to read instead of a result: any text. */
export const OBSERVATION: Replacement = {
  file: 'payload_override.dat',
  largestMiB: 4,
  problemOf: () => undefined,
}

function problemIn(
  text: string,
  file: string,
  isNone: string,
  problemOf: (value: Record<string, unknown>) => string | undefined,
): string | undefined {
  const value = parseJson(text)
  if (value === undefined) return `wrote an output/${file} that is not JSON`
  const problem = problemOf(Object(value))
  return problem && `wrote an output/${file} that ${isNone}: ${problem}`
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the caller reports that it is not JSON
  }
}

function problemOfRequest({ messages }: Record<string, unknown>): string | undefined {
  if (!Array.isArray(messages)) return 'it has no list "messages"'
  const areMessages = messages.every((message) => typeof message === 'object' && message !== null)
  return areMessages ? undefined : '"messages" holds something that is not a message'
}

/** Refuses a message that could not be journaled, or would pass for an answer because its calls cannot be read. */
function problemOfMessage({ role, content, tool_calls: calls }: Record<string, unknown>): string | undefined {
  if (role !== 'assistant') return 'its "role" is not "assistant"'
  if (content === undefined && calls === undefined) return 'it has neither "content" nor "tool_calls"'
  if (typeof (content ?? '') !== 'string' && !Array.isArray(content))
    return '"content" is neither text nor a list of parts'
  if (!Array.isArray(calls ?? [])) return '"tool_calls" is not a list'
  const nameless = ((calls ?? []) as unknown[]).findIndex((call) => !namesFunction(call))
  return nameless === -1 ? undefined : `"tool_calls[${nameless}]" names no function`
}

function namesFunction(call: unknown): boolean {
  const { name } = Object(Object(call).function)
  return typeof name === 'string' && name !== ''
}
