import { isUtf8 } from 'node:buffer'
import type { ChatResponse } from '../chat.js'
import { checkDepth } from '../depth.js'
import { parseCompletion } from './completion.js'
import { unreadableBody } from './connection.js'
import { inlineError, notJson, notUtf8 } from './failure.js'
import type { Asked } from './failure-kind.js'
import { readEvents } from './server-sent-events.js'
import { readStream, type StreamContext } from './stream.js'
import type { HttpAnswer } from './transport.js'

/**
 * Reads an answer with 2xx to its end, streamed or whole.
 *
 * @throws {ModelError} `ERR_MODEL_CONNECTION`: it broke off. `ERR_MODEL_RESPONSE`: it is not a completion. Or the error that
 *   the server sent in place of one.
 */
export async function readAnswer(answer: HttpAnswer, context: StreamContext): Promise<ChatResponse> {
  const { onText, asked, heard } = context
  // some servers stream whether they were asked to or not
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  if (isStream) return readStream(readEvents(pieces(answer, asked), asked), context)

  const bytes = await answer.bytes(heard).catch((error: unknown) => {
    throw unreadableBody(error, asked)
  })
  if (EVENTS.test(bytes.toString('latin1', 0, 200)))
    return readStream(readEvents(only(bytes), asked), context)
  const response = parseCompletion(parseBody(bytes, asked))
  if (response.message.content) onText?.(response.message.content)
  return response
}

/** The start of an event stream, which some gateways send with another content type. */
const EVENTS = /^\s*(:|event:|data:)/

async function* only(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function* pieces({ body }: HttpAnswer, asked: Asked): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body) yield chunk
  } catch (error) {
    throw unreadableBody(error, asked)
  }
}

/** Some servers send one first. */
const BYTE_ORDER_MARK = /^\uFEFF/

function parseBody(bytes: Uint8Array, asked: Asked): unknown {
  const text = Buffer.from(bytes).toString('utf8').replace(BYTE_ORDER_MARK, '')
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw notJson(text, asked, cause)
  }
  if (!isUtf8(bytes)) throw notUtf8(asked)
  checkDepth(body)
  const failure = inlineError((body ?? {}) as Record<string, unknown>, asked)
  if (failure) throw failure
  return body
}
