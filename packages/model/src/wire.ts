import type { Api, BlobReader, ChatRequest, ChatResponse, LeftOut, WireRequest } from './chat.js'
import { chatFormat } from './chat-format.js'
import { type Format, noBlobs } from './format.js'
import { messagesFormat } from './messages-format.js'
import { charge } from './response.js'
import { responsesFormat } from './responses-format.js'

/** The APIs that a server may speak. */
export const FORMATS: Readonly<Record<Api, Format>> = {
  chat: chatFormat,
  responses: responsesFormat,
  messages: messagesFormat,
}

/**
 * The body of a request as an API wants it. Pure.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`: a message holds an image or file, and there is no `blobs`.
 */
export function toWire(api: Api, request: ChatRequest, blobs: BlobReader = noBlobs): WireRequest {
  const { list, toBody } = FORMATS[api]
  const leftOut: LeftOut[] = []
  return { api, list, body: toBody(request, { blobs, leftOut }), leftOut }
}

/**
 * Reads an answer of an API.
 *
 * @throws {ModelError} `ERR_MODEL_RESPONSE`: it is not one. The error has the answer's `usage` and `model`.
 */
export function fromWire(api: Api, answer: unknown): ChatResponse {
  try {
    return FORMATS[api].read(answer)
  } catch (error) {
    throw charge(error, answer)
  }
}
