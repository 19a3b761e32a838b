import type { ChatResponse, CompleteOptions } from './chat.js'
import { parseCompletion } from './completion.js'
import { addDelta } from './delta.js'
import { checkDepth } from './depth.js'
import { ModelError } from './errors.js'
import { type Asked, inlineError } from './failure.js'

interface StreamContext {
  readonly onDelta?: CompleteOptions['onDelta']
  readonly onDone?: () => void
  readonly asked: Asked
}

/**
 * Adds the pieces of a streamed completion up to the completion they stand for.
 *
 * `[DONE]` ends the answer. The rest of the stream is still read, so that the connection can be used again, but nothing
 * that goes wrong there takes the answer away.
 *
 * @param events - The data of each server-sent event.
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: the stream ended before its answer did, or an event is no JSON; or the error
 *   that the server sent in the stream.
 */
export async function readStream(
  events: AsyncIterable<string>,
  { onDelta, onDone, asked }: StreamContext,
): Promise<ChatResponse> {
  const message: Record<string, unknown> = {}
  let envelope: Record<string, unknown> = {}
  let usage: unknown
  let finishReason: unknown
  let chosen: unknown
  let hasBegun = false
  let done = false

  try {
    for await (const data of events) {
      if (done) continue
      if (data === '[DONE]') {
        done = true
        onDone?.()
        continue
      }
      const { choices, usage: count, ...rest } = parseChunk(data, asked)
      envelope = { ...envelope, ...rest, object: 'chat.completion' }
      usage = count ?? usage
      const choice = choiceOf(choices, chosen)
      if (!isObject(choice)) continue
      chosen ??= choice.index
      hasBegun = true
      finishReason = choice.finish_reason ?? finishReason
      if (!isObject(choice.delta)) continue
      addDelta(message, choice.delta)
      if (typeof choice.delta.content === 'string' && choice.delta.content !== '') {
        onDelta?.({ content: choice.delta.content })
      }
    }
  } catch (error) {
    if (!done) throw error
  }
  if (!hasBegun || (!done && finishReason === undefined)) throw cutOff(message, done)

  const whole = { content: null, ...message, role: 'assistant', ...numberless(message.tool_calls) }
  const choices = [{ index: 0, message: whole, finish_reason: finishReason ?? null }]
  return parseCompletion({ ...envelope, choices, ...(usage ? { usage } : {}) })
}

/** Where several choices were asked for they come mixed; the answer is the one that came first. */
function choiceOf(choices: unknown, chosen: unknown): unknown {
  if (!Array.isArray(choices)) return undefined
  return chosen === undefined
    ? choices[0]
    : choices.find((choice) => isObject(choice) && choice.index === chosen)
}

/** The number of a call belongs to the stream; in a message that is sent back, strict servers do not know it. */
function numberless(calls: unknown): { tool_calls?: unknown[] } {
  if (!Array.isArray(calls)) return {}
  return { tool_calls: calls.map(({ index: _index, ...call }) => call) }
}

function parseChunk(data: string, asked: Asked): Record<string, unknown> {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch (cause) {
    const message = `The stream holds an event that is no JSON, so it may be incomplete: ${data.slice(0, 200)}`
    throw new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true, cause })
  }
  if (!isObject(chunk)) return {}
  checkDepth(chunk)
  const failure = inlineError(chunk, asked)
  if (failure) throw failure
  return chunk
}

function cutOff(message: Record<string, unknown>, done: boolean): ModelError {
  const got =
    typeof message.content === 'string' ? `after ${message.content.length} characters of text` : 'at once'
  const missing = done ? 'no message' : 'no finish_reason and no [DONE]'
  return new ModelError(
    'ERR_MODEL_RESPONSE',
    `The stream ended ${got}, before the answer did: ${missing} came. What came is not used.`,
    { retryable: true },
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
