import type { ChatMessage } from '@delta/model'

/** A piece of a conversation that is kept or dropped as a whole. */
export interface Turn {
  /**
   * `cycle`: what the model said, with all results; `dropped`: a mark in the place of the last cycle that was left out; the
   * others are single messages from outside.
   */
  kind: 'cycle' | 'dropped' | 'user' | 'system'
  /** The number of the cycle that it is, belongs to or stands for, from 1. */
  iteration?: number
  messages: readonly SizedMessage[]
}

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
