import type { ChatRequest } from '../chat.js'
import { isObject } from '../is-object.js'
import { requireThat } from '../usage.js'

/** The same request, asking for the answer as a stream, with the usage at its end. */
export function streamingRequest(request: ChatRequest): ChatRequest {
  requireThat(isObject(request), 'streamingRequest: the request', 'an object with messages')
  return { stream_options: { include_usage: true }, ...request, stream: true }
}
