import type { ChatResponse } from './chat.js'
import { parseCompletion } from './completion.js'
import { addDelta } from './delta.js'
import { ModelError } from './errors.js'
import { inlineError } from './failure.js'

/**
 * Adds the pieces of a streamed completion up to the completion they stand for.
 *
 * @param events - The data of each server-sent event.
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: the stream ended before its answer did, or an event is no JSON; or the error
 *   that the server sent in the stream.
 */
export async function readStream(
  events: AsyncIterable<string>,
  onDelta: ((delta: { content?: string }) => void) | undefined,
): Promise<ChatResponse> {
  const message: Record<string, unknown> = {}
  let envelope: Record<string, unknown> = {}
  let usage: unknown
  let finishReason: unknown
  let done = false

  for await (const data of events) {
    if (data === '[DONE]') {
      done = true
      continue
    }
    const { choices, usage: count, ...rest } = parseChunk(data)
    envelope = { ...envelope, ...rest, object: 'chat.completion' }
    usage = count ?? usage
    const choice = Array.isArray(choices) ? choices[0] : undefined
    if (!isObject(choice)) continue
    finishReason = choice.finish_reason ?? finishReason
    if (!isObject(choice.delta)) continue
    addDelta(message, choice.delta)
    if (typeof choice.delta.content === 'string' && choice.delta.content !== '') {
      onDelta?.({ content: choice.delta.content })
    }
  }
  if (!done && finishReason === undefined) throw cutOff(message)

  const whole = { content: null, ...message, role: 'assistant', ...numberless(message.tool_calls) }
  const choices = [{ index: 0, message: whole, finish_reason: finishReason ?? null }]
  return parseCompletion({ ...envelope, choices, ...(usage ? { usage } : {}) })
}

/** The number of a call belongs to the stream; in a message that is sent back, strict servers do not know it. */
function numberless(calls: unknown): { tool_calls?: unknown[] } {
  if (!Array.isArray(calls)) return {}
  return { tool_calls: calls.map(({ index: _index, ...call }) => call) }
}

function parseChunk(data: string): Record<string, unknown> {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch (cause) {
    const message = `The stream holds an event that is no JSON, so it may be incomplete: ${data.slice(0, 200)}`
    throw new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true, cause })
  }
  if (!isObject(chunk)) return {}
  const failure = inlineError(chunk)
  if (failure) throw failure
  return chunk
}

function cutOff(message: Record<string, unknown>): ModelError {
  const got =
    typeof message.content === 'string' ? `after ${message.content.length} characters of text` : 'at once'
  return new ModelError(
    'ERR_MODEL_RESPONSE',
    `The stream ended ${got}, before the answer did: no finish_reason and no [DONE] came. What came is not used.`,
    { retryable: true },
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
