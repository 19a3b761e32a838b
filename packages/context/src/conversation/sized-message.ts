import type { ChatMessage } from '@delta/model'

/** A message as it is sent. */
export interface SizedMessage {
  message: ChatMessage
  /** The message as JSON. */
  json: string
  /** Of the JSON, in UTF-8. */
  bytes: number
}

export function sizeMessage(message: ChatMessage): SizedMessage {
  const json = JSON.stringify(message)
  return { message, json, bytes: Buffer.byteLength(json) }
}
