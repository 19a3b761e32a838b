import type { ChatResponse } from '../chat.js'
import { checkDepth } from '../depth.js'
import { ModelError } from '../errors.js'
import { isObject } from '../is-object.js'
import { parseCompletion } from './completion.js'
import { inlineError } from './failure.js'
import type { Asked } from './failure-kind.js'
import { bringsSomething, collectAnswer } from './streamed-answer.js'

/** What to call while an answer is read. */
export interface StreamContext {
  /** Called with each piece of text. */
  readonly onText?: (text: string) => void
  /** Called for each piece that holds part of the answer, not for a mere sign of life. */
  readonly heard?: () => void
  /** Called when the answer is complete, though its stream has not ended. */
  readonly onDone?: () => void
  readonly asked: Asked
}

/**
 * Reads a streamed completion to the end of its answer.
 *
 * `[DONE]` ends the answer. The rest of the stream is still read, so that the connection can be reused, but an error there
 * does not invalidate the answer.
 *
 * @param events - The data of each server-sent event.
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: the stream ended before its answer did, or an event is not JSON; or the error
 *   that the server sent in the stream.
 */
export async function readStream(
  events: AsyncIterable<string>,
  { onText, heard, onDone, asked }: StreamContext,
): Promise<ChatResponse> {
  const answer = collectAnswer()
  let done = false
  try {
    for await (const data of events) {
      if (done || data.trim() === '') continue
      done = data.trim() === '[DONE]'
      if (done) {
        onDone?.()
        continue
      }
      const chunk = parseChunk(data, asked)
      const content = answer.add(chunk)
      if (bringsSomething(chunk)) heard?.()
      if (content !== '') onText?.(content)
    }
  } catch (error) {
    if (!done) throw error
  }
  if (!answer.hasBegun || (!done && !answer.hasEnded)) throw cutOff(answer.text, done)
  return parseCompletion(answer.completion())
}

function parseChunk(data: string, asked: Asked): Record<string, unknown> {
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch (cause) {
    const message = `The stream contains an event that is not JSON, so it may be incomplete: ${data.slice(0, 200)}`
    throw new ModelError('ERR_MODEL_RESPONSE', message, { retryable: true, cause })
  }
  if (!isObject(chunk)) return {}
  checkDepth(chunk)
  const failure = inlineError(chunk, asked)
  if (failure) throw failure
  return chunk
}

function cutOff(text: string | undefined, done: boolean): ModelError {
  const got = text === undefined ? 'at once' : `after ${text.length} characters of text`
  const missing = done ? 'no message' : 'no finish_reason and no [DONE]'
  return new ModelError(
    'ERR_MODEL_RESPONSE',
    `The stream ended ${got}, before the answer did: ${missing} came. What arrived was discarded.`,
    { retryable: true },
  )
}
