import type { ChatRequest, CompleteOptions } from './chat.js'
import { isObject } from './is-object.js'
import { requireThat } from './usage.js'

/**
 * What every `complete` checks first. The content of the messages is for the server to judge.
 *
 * @throws {ModelError} `ERR_MODEL_SETTINGS`
 */
export function checkRequest(request: ChatRequest, options: CompleteOptions): void {
  const messages: unknown = Object(request).messages
  const isRequest = Array.isArray(messages) && messages.every(isObject)
  requireThat(
    isRequest,
    'complete: the request',
    "an object with messages, as in { messages: [{ role: 'user', content: 'Hi' }] }",
  )
  requireThat(isObject(options), 'complete: the argument options', 'an object with options, or nothing')
  const { signal, body, onDelta } = options
  requireThat(
    signal === undefined || isSignal(signal),
    'complete: the option signal',
    'an AbortSignal, or nothing',
  )
  requireThat(
    body === undefined || body instanceof Uint8Array,
    'complete: the option body',
    'the bytes of a string, or nothing',
  )
  const isListener = onDelta === undefined || typeof onDelta === 'function'
  requireThat(isListener, 'complete: the option onDelta', 'a function, or nothing')
}

/** By its shape, since a signal may come from another realm. */
function isSignal(signal: unknown): boolean {
  return isObject(signal) && typeof signal.addEventListener === 'function'
}
